/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.configuration.Keys;
import io.sparqr.error.FatalCudaException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.DeviceWork;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.Tuning;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Factors subtree tasks on one device, or on several: {@link StagedFactorization} plans stages and
 * rounds, {@link CudaRoundExecutor} or {@link CudaDevicesExecutor} runs them, and the CPU backend
 * drops dead columns from fronts where the device does not.
 *
 * <p>Several devices share a task only if they are of one kind, because others would give other
 * bits, and if they reach each other's memory; else the first works alone, which the report says.
 *
 * <p>Holds a lease on the devices' sessions and device memory until close(), and where sessions are
 * kept a little longer ({@link DeviceSessions.Lease#closeAfter}). One task at a time; others wait.
 */
public final class CudaSubtreeFactorizer implements SubtreeFactorizer {

  private final List<DeviceSessions.Lease> leases = new ArrayList<>();
  private final CudaDevice device;

  /** Why the first device works alone, if there are others; else empty. */
  private final String obstacle;

  private final @Nullable SchedulerOptions options;
  private final SubtreeFactorizer mender;
  private @Nullable RoundExecutor executor;
  private @Nullable StagedFactorization staged;
  private int threads;
  private Tuning tuning = Tuning.constants();
  private boolean closed;
  private TestModes modes = TestModes.none();

  /** With its own session, closed with this object. */
  public CudaSubtreeFactorizer(CudaDriver driver, int ordinal, SchedulerOptions options) {
    this(new DeviceSessions(driver, 0), ordinal, options);
  }

  /** With the options, or those of a task's tuning for the device. */
  public CudaSubtreeFactorizer(
      DeviceSessions sessions, int ordinal, @Nullable SchedulerOptions options) {
    this(sessions, List.of(ordinal), options);
  }

  /**
   * On several devices, whose tasks own all of them.
   *
   * @param ordinals different ones, at least one
   */
  CudaSubtreeFactorizer(
      DeviceSessions sessions, List<Integer> ordinals, @Nullable SchedulerOptions options) {
    this.options = options;
    boolean done = false;
    try {
      for (int ordinal : ordinals) {
        leases.add(sessions.acquire(ordinal));
      }
      device = leases.get(0).session().device();
      obstacle = obstacle();
      done = true;
    } finally {
      if (!done) {
        leases.forEach(DeviceSessions.Lease::close);
      }
    }
    mender = new CpuBackendProvider().create(0);
  }

  private String obstacle() {
    for (DeviceSessions.Lease a : leases) {
      for (DeviceSessions.Lease b : leases) {
        CudaDevice one = a.session().device();
        CudaDevice other = b.session().device();
        if (!one.chip().equals(other.chip())) {
          return "devices of different kinds do not share a task: %s works alone, %s waits"
              .formatted(device.name(), other.name());
        }
        if (!one.reaches(other)) {
          return "%s cannot read the memory of %s (no peer access): the first device works alone"
              .formatted(one.name(), other.name());
        }
      }
    }
    return "";
  }

  /** What runs the rounds of this factorizer's stages. */
  RoundExecutor executor(int threads, Tuning tuning) {
    SchedulerOptions cut = options == null ? tuned(tuning, device.multiprocessors()) : options;
    DeviceSession session = leases.get(0).session();
    if (leases.size() == 1) {
      return new CudaRoundExecutor(session, 0, threads, cut, modes);
    }
    if (!obstacle.isEmpty()) {
      var alone = new DeviceChoice.Alone(obstacle);
      return new CudaDevicesExecutor(List.of(session), alone, 0, threads, cut, modes);
    }
    var sessions = leases.stream().map(DeviceSessions.Lease::session).toList();
    double peak = Crossover.peak(device.driver(), device.ordinal());
    device.bind();
    var model = DeviceModel.ofPeak(peak, device.totalBytes());
    var planned = new PlannedDevices(sessions.size(), model, DeviceWork.Link.nvlink(), cut);
    return new CudaDevicesExecutor(sessions, planned, 0, threads, cut, modes);
  }

  /** Options for a device without a tuning. */
  public static SchedulerOptions tuned(int multiprocessors) {
    return tuned(Tuning.constants(), multiprocessors);
  }

  /** Options for a device; bundles that are set for the JVM come before those of a tuning. */
  static SchedulerOptions tuned(Tuning tuning, int multiprocessors) {
    SchedulerOptions its = SchedulerOptions.of(tuning, multiprocessors);
    return Keys.BUNDLE
        .find(System::getProperty)
        .map(size -> its.with(TileBundles.of(size.intValue())))
        .orElse(its);
  }

  @Override
  public synchronized SubtreeFactor factor(SubtreeProblem problem, FactorOptions factorOptions) {
    if (closed) {
      throw new IllegalStateException("the CUDA factorizer is closed");
    }
    if (executor == null
        || threads != factorOptions.threads()
        || !tuning.equals(factorOptions.tuning())) {
      if (executor != null) {
        executor.close();
        executor = null;
        Objects.requireNonNull(staged).keepPlans();
      }
      threads = factorOptions.threads();
      tuning = factorOptions.tuning();
      executor = executor(threads, tuning);
      staged = new StagedFactorization("cuda", executor, mender, leases.get(0).session().plans());
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
    leases.forEach(lease -> lease.lost(e));
  }

  /** To be called before the first task. */
  void set(TestModes asked) {
    modes = asked;
  }

  /** Milliseconds of the last stage's rounds on the device. */
  double kernelMillis() {
    return executor instanceof CudaRoundExecutor one ? one.kernelMillis() : 0;
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
    String many = leases.size() > 1 && obstacle.isEmpty() ? leases.size() + " x " : "";
    return "cuda (" + many + device.chip() + ")";
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      mender.close();
      if (staged != null) {
        staged.keepPlans();
      }
      RoundExecutor last = executor;
      var freed = new CompletableFuture<Void>();
      leases
          .get(0)
          .closeAfter(
              () -> {
                try {
                  if (last != null) {
                    last.close();
                  }
                } finally {
                  freed.complete(null);
                }
              });
      // Their next users wait as well.
      leases.stream().skip(1).forEach(lease -> lease.closeAfter(freed::join));
    }
  }
}
