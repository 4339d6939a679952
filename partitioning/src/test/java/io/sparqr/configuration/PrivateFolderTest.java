/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A folder is used only if it belongs to the user; a file in it is complete or absent. */
@EnabledOnOs({OS.LINUX, OS.MAC})
class PrivateFolderTest {

  private static final byte[] CONTENT = {1, 2, 3, 4};

  private static final String OTHER = "nobody";

  /** Sticky and open to everybody, as /tmp is. */
  private Path shared;

  @BeforeEach
  void make() throws IOException {
    shared = Files.createTempDirectory(Path.of("/tmp"), "sparqr-test");
    Files.setAttribute(shared, "unix:mode", 01777);
  }

  @AfterEach
  void remove() throws IOException {
    try (Stream<Path> all = Files.walk(shared)) {
      for (Path p : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(p);
      }
    }
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(
        Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
  }

  private static void set(Path file, String mode) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void itIsMadeForTheUserAlone() throws IOException {
    Path folder = shared.resolve("a/b");
    PrivateFolder own = PrivateFolder.open(folder);
    assertThat(mode(folder)).isEqualTo("rwx------");
    assertThat(own.put("x", CONTENT)).isTrue();
    assertThat(PrivateFolder.open(folder).put("x", CONTENT)).isFalse();
    assertThat(mode(folder.resolve("x"))).isEqualTo("rw-------");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(folder.resolve("x"));
    }
  }

  @Test
  void whereItIsCanBeSaid() throws IOException {
    System.setProperty(Keys.NATIVE_FOLDER.name(), shared.resolve("given").toString());
    try {
      assertThat(PrivateFolder.open().path()).isEqualTo(shared.resolve("given"));
    } finally {
      System.clearProperty(Keys.NATIVE_FOLDER.name());
    }
  }

  @Test
  void whatIsSwappedIsPutBack() throws IOException {
    PrivateFolder own = PrivateFolder.open(shared.resolve("own"));
    own.put("x", CONTENT);
    Path file = own.path().resolve("x");
    Files.write(file, new byte[] {1, 2, 3, 5});
    assertThat(own.put("x", CONTENT)).isTrue();
    assertThat(Files.readAllBytes(file)).isEqualTo(CONTENT);
    // the right content, but other users may change it
    Path theirs = shared.resolve("theirs");
    Files.write(theirs, CONTENT);
    Files.delete(file);
    Files.createSymbolicLink(file, theirs);
    assertThat(own.put("x", CONTENT)).isTrue();
    assertThat(Files.isSymbolicLink(file)).isFalse();
    assertThat(theirs).exists();
    set(file, "rw-rw----");
    assertThat(own.put("x", CONTENT)).isTrue();
    assertThat(mode(file)).isEqualTo("rw-------");
  }

  private static void assertRefused(Path folder, String why) {
    assertThatThrownBy(() -> PrivateFolder.open(folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(folder.toString())
        .hasMessageContaining(why)
        .hasMessageContaining("sparqr.native.folder")
        .hasMessageNotContaining("\n");
  }

  @Test
  void aFolderThatIsOpenToOthersIsRefused() throws IOException {
    Path folder = PrivateFolder.open(shared.resolve("own")).path();
    for (String mode : List.of("rwxrwx---", "rwxr-x---", "rwx---rwx", "rwx-----x")) {
      set(folder, mode);
      assertRefused(folder, "open to others (" + mode + ")");
    }
    set(folder, "rwx------");
    assertThat(PrivateFolder.open(folder).path()).isEqualTo(folder);
  }

  @Test
  void aLinkAndAFileAreRefused() throws IOException {
    Path real = PrivateFolder.open(shared.resolve("real")).path();
    Path link = Files.createSymbolicLink(shared.resolve("link"), real);
    assertRefused(link, "is a symbolic link of ");
    Path dangling = Files.createSymbolicLink(shared.resolve("dangling"), shared.resolve("no"));
    assertRefused(dangling, "is a symbolic link of ");
    assertThat(shared.resolve("no")).doesNotExist();
    Path file = Files.write(shared.resolve("file"), CONTENT);
    assertRefused(file, "is no folder of ");
  }

  /** Compares the folder's owner with another user's name, whoever runs the test. */
  @Test
  void aFolderOfAnotherUserIsRefused() throws IOException {
    Path folder = PrivateFolder.open(shared.resolve("own")).path();
    var found = Files.readAttributes(folder, PosixFileAttributes.class);
    UserPrincipal self = found.owner();
    PrivateFolder.requireOwn(folder, found, self);
    String other = self.getName().equals(OTHER) ? "root" : OTHER;
    UserPrincipal them =
        folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(other);
    assertThatThrownBy(() -> PrivateFolder.requireOwn(folder, found, them))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("belongs to " + self.getName() + ", not to " + other);
  }

  @Test
  void twoProcessesAtOnceLeaveAWholeFile() throws Exception {
    Process first = start(false, "write");
    Process second = start(false, "write");
    assertThat(said(first)).isEqualTo("whole");
    assertThat(said(second)).isEqualTo("whole");
    Path folder = shared.resolve("sparqr-" + System.getProperty("user.name"));
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(folder.resolve(PrivateFolderProcess.FILE));
    }
  }

  /** Two users of one host; the second finds the files that the first has left. */
  @Test
  void twoUsersDoNotMeet() throws Exception {
    assumeTwoUsers();
    // left over from versions that had a lock in the common folder
    Path lock = Files.createFile(shared.resolve(PrivateFolderProcess.FILE + ".lock"));
    set(lock, "rw-------");
    assertThat(said(start(false, "put")))
        .isEqualTo("written true " + shared.resolve("sparqr-root"));
    Path theirs = shared.resolve("sparqr-" + OTHER);
    assertThat(said(start(true, "put"))).isEqualTo("written true " + theirs);
    assertThat(said(start(true, "put"))).isEqualTo("written false " + theirs);
    assertThat(Files.getOwner(theirs).getName()).isEqualTo(OTHER);
    assertThat(mode(theirs)).isEqualTo("rwx------");
    // the second under the first one's name, and the first, who may do anything, in the second's
    assertThat(said(start(true, "put", "-Duser.name=root")))
        .startsWith("refused " + shared.resolve("sparqr-root") + " belongs to root");
    assertThat(said(start(false, "put", "-Duser.name=" + OTHER)))
        .startsWith("refused " + theirs + " belongs to " + OTHER + ", not to root");
    // a file of the right content that the other one owns
    Path file = shared.resolve("sparqr-root").resolve(PrivateFolderProcess.FILE);
    Files.setOwner(file, Files.getOwner(theirs));
    assertThat(said(start(false, "put"))).startsWith("written true");
    assertThat(Files.getOwner(file).getName()).isEqualTo("root");
  }

  private void assumeTwoUsers() throws Exception {
    boolean may =
        System.getProperty("user.name").equals("root") && Files.exists(Path.of("/usr/bin/setpriv"));
    assumeThat(may).as("only root with setpriv can be two users").isTrue();
    Process probe = start(true, "put", "-Dsparqr.native.folder=" + shared.resolve("probe"));
    assumeThat(said(probe)).as(OTHER + " cannot run our classes").startsWith("written");
  }

  private Process start(boolean other, String what, String... options) throws Exception {
    var command = new ArrayList<String>();
    if (other) {
      command.addAll(
          List.of("/usr/bin/setpriv", "--reuid=" + OTHER, "--regid=65534", "--clear-groups"));
    }
    command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
    command.add("-Djava.io.tmpdir=" + shared);
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", at(PrivateFolder.class) + ":" + at(PrivateFolderTest.class)));
    command.addAll(List.of(PrivateFolderProcess.class.getName(), what));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static Path at(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static String said(Process process) throws Exception {
    try (var out = process.getInputStream()) {
      return new String(out.readAllBytes(), StandardCharsets.UTF_8).strip();
    } finally {
      process.waitFor();
    }
  }
}
