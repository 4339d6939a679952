/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sparqr.configuration.Keys;
import io.sparqr.configuration.PrivateFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import jcuda.LibUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {

  private static final String RESOURCE = "/jcuda/LibUtils.class";

  @TempDir Path temporary;

  private Path folder;

  @BeforeEach
  void choose() {
    folder = temporary.resolve("own");
    System.setProperty(Keys.NATIVE_FOLDER.name(), folder.toString());
  }

  @AfterEach
  void forget() {
    System.clearProperty(Keys.NATIVE_FOLDER.name());
  }

  @Test
  void writesOnceAndMendsWhatIsBroken() throws Exception {
    PrivateFolder own = PrivateFolder.open();
    assertThat(NativeLibrary.prepare(RESOURCE, own, "x.so")).isTrue();
    assertThat(NativeLibrary.prepare(RESOURCE, own, "x.so")).isFalse();
    byte[] whole = Files.readAllBytes(folder.resolve("x.so"));
    byte[] half = java.util.Arrays.copyOf(whole, whole.length / 2);
    Files.write(folder.resolve("x.so"), half);
    assertThat(NativeLibrary.prepare(RESOURCE, own, "x.so")).isTrue();
    whole[0]++;
    Files.write(folder.resolve("x.so"), whole);
    assertThat(NativeLibrary.prepare(RESOURCE, own, "x.so")).isTrue();
    try (var files = Files.list(folder)) {
      assertThat(files.map(f -> f.getFileName().toString())).containsExactly("x.so");
    }
  }

  @Test
  void manyAtOnceWriteOnce() throws Exception {
    var pool = Executors.newFixedThreadPool(8);
    try {
      Callable<Boolean> one = () -> NativeLibrary.prepare(RESOURCE, PrivateFolder.open(), "y.so");
      long written = 0;
      for (var f : pool.invokeAll(IntStream.range(0, 32).mapToObj(i -> one).toList())) {
        written += f.get() ? 1 : 0;
      }
      assertThat(written).isEqualTo(1);
    } finally {
      pool.shutdown();
    }
  }

  /**
   * JCuda's own loader looks only in our folder, and the process has its old setting afterwards.
   */
  @Test
  void theLoaderIsLedToTheFolder() throws Exception {
    String before = System.getProperty("java.io.tmpdir");
    var seen = new String[1];
    NativeLibrary.from(folder, () -> seen[0] = System.getProperty("java.io.tmpdir"));
    assertThat(seen[0]).isEqualTo(folder.toString());
    assertThatThrownBy(
            () ->
                NativeLibrary.from(
                    folder,
                    () -> {
                      throw new UnsatisfiedLinkError("no");
                    }))
        .isInstanceOf(UnsatisfiedLinkError.class);
    assertThat(System.getProperty("java.io.tmpdir")).isEqualTo(before);
  }

  /**
   * With or without a driver, the file that is loaded, or fails to load, is the one in our folder.
   */
  @Test
  void whatIsLoadedLiesInTheFolder() throws Exception {
    String name = LibUtils.createPlatformLibraryName("JCudaDriver-12.6.0");
    String file = LibUtils.createLibraryFileName(name);
    assumeThat(LibUtils.class.getResource("/lib/" + file)).as("this platform's").isNotNull();
    try {
      NativeLibrary.load();
    } catch (LinkageError e) {
      // no libcuda.so.1 here
    }
    assertThat(folder.resolve(file)).isRegularFile();
    Path common = Path.of(System.getProperty("java.io.tmpdir"), file);
    assertThat(common).doesNotExist();
  }

  @Test
  void aFolderThatIsNotOursIsALinkError() throws Exception {
    Files.createSymbolicLink(folder, Files.createDirectory(temporary.resolve("theirs")));
    assertThatThrownBy(NativeLibrary::load)
        .isInstanceOf(UnsatisfiedLinkError.class)
        .hasMessageContaining(folder + " is a symbolic link")
        .hasMessageContaining("sparqr.native.folder");
  }
}
