/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.configuration.Keys;
import io.sparqr.error.FatalCudaException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.TileModel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Factors subtree tasks on one device: {@link StagedFactorization} plans stages and rounds, {@link
 * CudaRoundExecutor} runs them, and the CPU backend drops dead columns from fronts where the device
 * does not.
 *
 * <p>Holds a lease on the device's session and device memory until close(), and where sessions are
 * kept a little longer ({@link DeviceSessions.Lease#closeAfter}). One task at a time; others wait.
 */
public final class CudaSubtreeFactorizer implements SubtreeFactorizer {

  private final DeviceSessions.Lease lease;
  private final CudaDevice device;
  private final @Nullable SchedulerOptions options;
  private final SubtreeFactorizer mender;
  private @Nullable CudaRoundExecutor executor;
  private @Nullable StagedFactorization staged;
  private int threads;
  private boolean closed;
  private TestModes modes = TestModes.none();

  /** With its own session, closed with this object. */
  public CudaSubtreeFactorizer(CudaDriver driver, int ordinal, SchedulerOptions options) {
    this(new DeviceSessions(driver, 0), ordinal, options);
  }

  /** With the options, or those {@link #tuned} for the device. */
  public CudaSubtreeFactorizer(
      DeviceSessions sessions, int ordinal, @Nullable SchedulerOptions options) {
    this.options = options;
    lease = sessions.acquire(ordinal);
    device = lease.session().device();
    mender = new CpuBackendProvider().create(0);
  }

  /** Options for a device: enough Apply tasks for four thread blocks per multiprocessor. */
  public static SchedulerOptions tuned(int multiprocessors) {
    TileModel tiles = TileModel.device();
    int bundle = Keys.BUNDLE.find(System::getProperty).map(Long::intValue).orElse(tiles.bundle());
    return new SchedulerOptions(
        bundle,
        true,
        tiles.smallFrontDoubles(),
        tiles.smallFrontColumns(),
        4 * multiprocessors,
        8,
        16384,
        8,
        1024);
  }

  @Override
  public synchronized SubtreeFactor factor(SubtreeProblem problem, FactorOptions factorOptions) {
    if (closed) {
      throw new IllegalStateException("the CUDA factorizer is closed");
    }
    if (executor == null || threads != factorOptions.threads()) {
      if (executor != null) {
        executor.close();
        executor = null;
      }
      threads = factorOptions.threads();
      SchedulerOptions cut = options == null ? tuned(device.multiprocessors()) : options;
      executor = new CudaRoundExecutor(lease.session(), 0, threads, cut, modes);
      staged = new StagedFactorization("cuda", executor, mender);
    }
    try {
      return Objects.requireNonNull(staged).factor(problem, factorOptions);
    } catch (FatalCudaException e) {
      abandon(e);
      throw e;
    }
  }

  /** After a sticky error nothing can be released properly: the process has to end. */
  private void abandon(FatalCudaException e) {
    closed = true;
    lease.lost(e);
  }

  /** To be called before the first task. */
  void set(TestModes asked) {
    modes = asked;
  }

  /** Milliseconds of the last stage's rounds on the device. */
  double kernelMillis() {
    return executor == null ? 0 : executor.kernelMillis();
  }

  @Override
  public boolean checksItself() {
    return true;
  }

  @Override
  public synchronized void verifyGiven(SubtreeProblem problem) {
    if (staged != null) {
      staged.verifyGiven(problem);
    }
  }

  @Override
  public String description() {
    return "cuda (" + device.chip() + ")";
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      mender.close();
      CudaRoundExecutor last = executor;
      lease.closeAfter(
          () -> {
            if (last != null) {
              last.close();
            }
          });
    }
  }
}
