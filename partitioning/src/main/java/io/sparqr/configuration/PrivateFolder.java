/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The one folder that Sparqr writes to without being given a path, but for the file of {@code
 * sparqr tune}. Native libraries are written there before they are loaded, so it must belong to the
 * user. It is created with mode 0700; an existing one is accepted only if it is a real folder and
 * not a link, belongs to the user of this process and is closed to everybody else. Inside such a
 * folder (or a sticky one such as /tmp) no other user can swap a file that has been checked.
 *
 * <p>Where files have no POSIX attributes nothing is checked: temporary folders are private to the
 * user there.
 */
public final class PrivateFolder {

  private static final Set<PosixFilePermission> OWN =
      Set.copyOf(PosixFilePermissions.fromString("rwx------"));
  private static final Set<PosixFilePermission> WRITTEN_BY_OTHERS =
      Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);
  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

  private final Path path;
  private final @Nullable UserPrincipal owner;

  private PrivateFolder(Path path, @Nullable UserPrincipal owner) {
    this.path = path;
    this.owner = owner;
  }

  /**
   * The folder of {@link Keys#NATIVE_FOLDER}; created if missing. By default {@code sparqr-<user>}
   * among the temporary files, or {@code .cache/sparqr} of the user's home if native code may not
   * be run from there but from the home.
   *
   * @throws IOException if it cannot be created or belongs to another user; names folder, owner and
   *     remedy, in one line
   */
  public static PrivateFolder open() throws IOException {
    return open(
        Keys.NATIVE_FOLDER.find(System::getProperty).map(Path::of).orElseGet(PrivateFolder::usual));
  }

  private static Path usual() {
    return usual(
        Path.of(System.getProperty("java.io.tmpdir")),
        System.getProperty("user.name", "_"),
        System.getProperty("user.home", "?"),
        Mounts.ofThisProcess());
  }

  static Path usual(Path temporary, String user, String home, Mounts mounts) {
    // A user without a name has the home "?", which would be a folder of the working directory.
    if (mounts.noexec(temporary).isPresent()
        && Path.of(home).isAbsolute()
        && Files.isWritable(Path.of(home))
        && mounts.noexec(Path.of(home)).isEmpty()) {
      return Path.of(home, ".cache", "sparqr");
    }
    return temporary.resolve("sparqr-" + user.replaceAll("[^A-Za-z0-9._-]", "_"));
  }

  /** Opens any folder in the same way. */
  public static PrivateFolder open(Path folder) throws IOException {
    Path path = folder.toAbsolutePath();
    if (path.getParent() != null) {
      Files.createDirectories(path.getParent());
    }
    try {
      Files.createDirectory(path, POSIX ? new FileAttribute<?>[] {mode(OWN)} : none());
    } catch (FileAlreadyExistsException e) {
      // checked below, as a new one is
    } catch (AccessDeniedException e) {
      throw refusal(path, "cannot be made: access denied", e);
    }
    if (!POSIX) {
      return new PrivateFolder(path, null);
    }
    var found = Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!found.isDirectory()) {
      String what = found.isSymbolicLink() ? "a symbolic link" : "no folder";
      throw refusal(path, "is " + what + " of " + found.owner().getName(), null);
    }
    requireOwn(path, found, self(path, found));
    return new PrivateFolder(path, found.owner());
  }

  private static FileAttribute<?>[] none() {
    return new FileAttribute<?>[0];
  }

  private static FileAttribute<?> mode(Set<PosixFilePermission> permissions) {
    return PosixFilePermissions.asFileAttribute(permissions);
  }

  /** The owner of files that this process writes there. */
  private static UserPrincipal self(Path path, PosixFileAttributes found) throws IOException {
    Path probe;
    try {
      probe = Files.createTempFile(path, "owner", ".part");
    } catch (AccessDeniedException e) {
      String owner = found.owner().getName();
      throw refusal(path, "belongs to " + owner + " and cannot be written to", e);
    }
    try {
      return Files.getOwner(probe, LinkOption.NOFOLLOW_LINKS);
    } finally {
      Files.delete(probe);
    }
  }

  /**
   * Throws unless the folder is private to the user.
   *
   * @param self the user of this process
   */
  static void requireOwn(Path path, PosixFileAttributes found, UserPrincipal self)
      throws IOException {
    if (!found.owner().equals(self)) {
      String whose = "belongs to " + found.owner().getName() + ", not to " + self.getName();
      throw refusal(path, whose, null);
    }
    if (!OWN.containsAll(found.permissions())) {
      String mode = PosixFilePermissions.toString(found.permissions());
      throw refusal(path, "of " + self.getName() + " is open to others (" + mode + ")", null);
    }
  }

  private static IOException refusal(Path path, String why, @Nullable Throwable cause) {
    String what =
        "%s %s: native code is loaded from there, so it must be a folder of the user's own with"
            + " mode 0700; put that right, remove it, or name another one by the system property"
            + " %s";
    return new IOException(what.formatted(path, why, Keys.NATIVE_FOLDER.name()), cause);
  }

  /** Where it is. */
  public Path path() {
    return path;
  }

  /**
   * Makes sure that a file in the folder has the given content. A file that already has it, and
   * that only the user can write, stays; otherwise the content is written under another name,
   * forced to disk and moved into place atomically. Concurrent processes need no lock: each moves
   * the same complete file into place, and a process that has mapped an older file keeps that one.
   *
   * @return whether it was written
   */
  public boolean put(String file, byte[] content) throws IOException {
    Path target = path.resolve(file);
    synchronized (PrivateFolder.class) {
      if (has(target, content)) {
        return false;
      }
      write(target, content);
      if (!has(target, content)) {
        throw new IOException(target + " is not what was written there a moment ago");
      }
      return true;
    }
  }

  /** Replaces an existing file. */
  void write(Path target, byte[] content) throws IOException {
    Path part = Files.createTempFile(path, target.getFileName().toString(), ".part");
    try {
      try (var channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
        ByteBuffer left = ByteBuffer.wrap(content);
        while (left.hasRemaining()) {
          channel.write(left);
        }
        channel.force(true);
      }
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private boolean has(Path file, byte[] content) throws IOException {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    Class<? extends BasicFileAttributes> kind =
        POSIX ? PosixFileAttributes.class : BasicFileAttributes.class;
    BasicFileAttributes found = Files.readAttributes(file, kind, LinkOption.NOFOLLOW_LINKS);
    if (found instanceof PosixFileAttributes p
        && (!p.owner().equals(owner)
            || p.permissions().stream().anyMatch(WRITTEN_BY_OTHERS::contains))) {
      return false;
    }
    return found.isRegularFile()
        && found.size() == content.length
        && Arrays.equals(Files.readAllBytes(file), content);
  }
}
