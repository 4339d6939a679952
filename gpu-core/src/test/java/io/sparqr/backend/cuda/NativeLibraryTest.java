/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {

  private static final String RESOURCE = "/jcuda/LibUtils.class";

  @TempDir Path folder;

  @Test
  void writesOnceAndMendsWhatIsBroken() throws Exception {
    assertThat(NativeLibrary.prepare(RESOURCE, folder, "x.so")).isTrue();
    assertThat(NativeLibrary.prepare(RESOURCE, folder, "x.so")).isFalse();
    byte[] whole = Files.readAllBytes(folder.resolve("x.so"));
    byte[] half = java.util.Arrays.copyOf(whole, whole.length / 2);
    Files.write(folder.resolve("x.so"), half);
    assertThat(NativeLibrary.prepare(RESOURCE, folder, "x.so")).isTrue();
    whole[0]++;
    Files.write(folder.resolve("x.so"), whole);
    assertThat(NativeLibrary.prepare(RESOURCE, folder, "x.so")).isTrue();
    try (var files = Files.list(folder)) {
      assertThat(files.map(f -> f.getFileName().toString()))
          .containsExactlyInAnyOrder("x.so", "x.so.lock");
    }
  }

  @Test
  void manyAtOnceWriteOnce() throws Exception {
    var pool = Executors.newFixedThreadPool(8);
    try {
      Callable<Boolean> one = () -> NativeLibrary.prepare(RESOURCE, folder, "y.so");
      long written = 0;
      for (var f : pool.invokeAll(IntStream.range(0, 32).mapToObj(i -> one).toList())) {
        written += f.get() ? 1 : 0;
      }
      assertThat(written).isEqualTo(1);
    } finally {
      pool.shutdown();
    }
  }
}
