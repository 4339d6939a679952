/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sparqr.Sampling;
import io.sparqr.error.SparseQrException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Damaged files: bytes changed, cut out, repeated, cut off. Each gives a matrix or one error of
 * ours with a single line. {@code -Dtest.seed=}, {@code -Dsparqr.test.files=}.
 */
class FormatsFuzzTest {

  private static final long SEED = Long.getLong("test.seed", 43);
  private static final int[] FILES = Sampling.numbers("sparqr.test.files", 1500).toArray();

  /** Numbers that are often wrong in headers. */
  private static final int[] EDGES = {0, 1, 0x7f, 0x80, 0xff};

  @ParameterizedTest
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  @ValueSource(
      strings = {
        "a.csr.npz",
        "a.coo.npz",
        "a.npy",
        "i.int8.npy",
        "a.mat",
        "a.packed.mat",
        "a.full.mat",
        "problem.mat",
        "a.rb",
        "s.rb",
        "p.rb",
        "a.hb",
        "s.mtx",
        "b.csv",
        "b.dat"
      })
  void aDamagedFileIsAMatrixOrAnError(String name) throws IOException {
    byte[] whole = FormatFiles.bytes(name);
    int errors = 0;
    for (int k : FILES) {
      Random random = new Random(SEED * 1_000_003 + k);
      byte[] damaged = damaged(whole, random);
      String at = name + ", seed " + SEED + ", file " + k;
      try {
        if (name.startsWith("b.")) {
          FormatFiles.dense(name, damaged);
        } else {
          FormatFiles.matrix(name, damaged);
        }
      } catch (SparseQrException e) {
        errors++;
        assertThat(e.getMessage()).as(at).startsWith(name).doesNotContain("\n");
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        fail(at, e);
      }
    }
    assertThat(errors).as(name).isGreaterThan(FILES.length / 20);
  }

  private static byte[] damaged(byte[] whole, Random random) {
    byte[] bytes = whole.clone();
    int times = 1 + random.nextInt(4);
    for (int t = 0; t < times && bytes.length > 1; t++) {
      int at = random.nextInt(bytes.length);
      int length = Math.min(bytes.length - at, 1 + random.nextInt(8));
      switch (random.nextInt(6)) {
        case 0 -> bytes[at] = (byte) random.nextInt(256);
        case 1 -> bytes[at] = (byte) EDGES[random.nextInt(EDGES.length)];
        case 2 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 3 -> bytes = Arrays.copyOf(bytes, at);
        case 4 -> {
          byte[] shorter = new byte[bytes.length - length];
          System.arraycopy(bytes, 0, shorter, 0, at);
          System.arraycopy(bytes, at + length, shorter, at, shorter.length - at);
          bytes = shorter;
        }
        default -> {
          byte[] longer = new byte[bytes.length + length];
          System.arraycopy(bytes, 0, longer, 0, at + length);
          System.arraycopy(bytes, at, longer, at + length, bytes.length - at);
          bytes = longer;
        }
      }
    }
    return bytes;
  }
}
