/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaCalls.HostMemory;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.reference.PlainCalls;
import java.lang.reflect.Proxy;
import java.util.function.Function;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Q and R of dense matrices on a driver whose devices are the plain executor. */
class PlainDenseQrTest extends CudaDenseQrContract {

  private long before;

  @Override
  DeviceSessions sessions() {
    return sessions(new PlainCalls(1, true).calls());
  }

  /** Of a driver, closed as soon as they are idle. */
  static DeviceSessions sessions(CudaCalls calls) {
    return new DeviceSessions(
        new CudaDriver(calls), 0, capability -> new KernelImage(part -> new byte[1]));
  }

  @BeforeEach
  void count() {
    before = LiveResources.total();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(LiveResources.total()).as("resources left").isEqualTo(before);
  }

  /** What a run found. */
  private record Found(double[] r, double[] q, double[] b) {}

  private static Found run(CudaCalls calls) {
    double[] a = random(70, 40, 1);
    double[] b = random(70, 3, 2);
    try (var qr = new CudaDenseQr(sessions(calls), 0, 70, 40, true, 1)) {
      qr.factor(a);
      double[] q = qr.thinQ();
      qr.applyQTransposed(b, 3);
      return new Found(qr.r(), q, b);
    }
  }

  /** R alone, of a tall matrix. */
  private static Found runTall(CudaCalls calls) {
    try (var qr = new CudaDenseQr(sessions(calls), 0, 90, 5, false, 1)) {
      qr.takeSmallToo();
      qr.factor(random(90, 5, 1));
      assertThat(qr.byGram()).isTrue();
      return new Found(qr.r(), new double[0], new double[0]);
    }
  }

  /** A changed bit of any copy, in the middle of it, changes no bit of a result in silence. */
  @ParameterizedTest
  @CsvSource({
    "copyToDeviceAsync, false",
    "copyToHostAsync, false",
    "copyToDeviceAsync, true",
    "copyToHostAsync, true"
  })
  void copiesAreChecked(String direction, boolean tall) {
    Function<CudaCalls, Found> run = tall ? PlainDenseQrTest::runTall : PlainDenseQrTest::run;
    Found right = run.apply(new PlainCalls(1, true).calls());
    int refused = 0;
    var damage = new Damage(direction, 0);
    for (int k = 0; damage.left < 0 || k == 0; k++) {
      damage = new Damage(direction, k);
      try {
        Found found = run.apply(damage.of(new PlainCalls(1, true).calls()));
        assertThat(found.r).as("R, copy %d", k).isEqualTo(right.r);
        assertThat(found.q).as("Q, copy %d", k).isEqualTo(right.q);
        assertThat(found.b).as("Q'B, copy %d", k).isEqualTo(right.b);
      } catch (RuntimeException e) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(tall ? 1 : 4);
    // A plain device that fails while it is closed keeps what it has.
    before = LiveResources.total();
  }

  /** No memory for the parts of a Gram matrix: the rounds make R. */
  @Test
  void withoutMemoryForItTheRoundsMakeR() {
    CudaCalls real = new PlainCalls(1, true).calls();
    // 12 blocks of 16 x 8 for each part of 64 rows
    long parts = 8 * 12 * 128 * 4;
    CudaCalls full =
        (CudaCalls)
            Proxy.newProxyInstance(
                CudaCalls.class.getClassLoader(),
                new Class<?>[] {CudaCalls.class},
                (proxy, method, a) ->
                    method.getName().equals("memoryAllocate") && a[1].equals(parts)
                        ? CUresult.CUDA_ERROR_OUT_OF_MEMORY
                        : method.invoke(real, a));
    double[] a = random(250, 5, 1);
    double[] r;
    try (var qr = new CudaDenseQr(sessions(real), 0, 250, 5, false, 1)) {
      qr.factor(a);
      r = qr.r();
    }
    try (var qr = new CudaDenseQr(sessions(full), 0, 250, 5, false, 1)) {
      qr.takeSmallToo();
      qr.factor(a);
      assertThat(qr.description()).endsWith("no memory for its parts");
      assertThat(qr.r()).isEqualTo(r);
    }
  }

  /** Changes a bit of one copy. */
  private static final class Damage {
    private final String direction;
    private int left;
    private @Nullable HostMemory last;
    private int at;

    Damage(String direction, int left) {
      this.direction = direction;
      this.left = left;
    }

    CudaCalls of(CudaCalls real) {
      return (CudaCalls)
          Proxy.newProxyInstance(
              CudaCalls.class.getClassLoader(),
              new Class<?>[] {CudaCalls.class},
              (proxy, method, a) -> {
                boolean up = direction.equals("copyToDeviceAsync");
                if (method.getName().equals(direction) && left-- == 0) {
                  last = (HostMemory) a[up ? 1 : 0];
                  at = (int) ((Long) a[up ? 2 : 1] + (Long) a[3] / 2);
                  if (up) {
                    change();
                  }
                }
                Object result = method.invoke(real, a);
                if (method.getName().endsWith("Synchronize")) {
                  change();
                }
                return result;
              });
    }

    private void change() {
      if (last != null) {
        last.view.put(at, (byte) (last.view.get(at) ^ 16));
        last = null;
      }
    }
  }
}
