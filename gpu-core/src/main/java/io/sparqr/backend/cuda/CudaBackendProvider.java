/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.DeviceKey;
import io.sparqr.backend.OpenDevice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.DriverVersion;
import io.sparqr.backend.cuda.driver.JCudaCalls;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.tuning.TuningBench;
import io.sparqr.configuration.Keys;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.error.CudaException;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.SparseQrException;
import io.sparqr.jvm.JvmPart;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.lowrank.PursuitSite;
import io.sparqr.numeric.tall.DenseFactorization;
import io.sparqr.partition.DeviceModel;
import io.sparqr.symbolic.Tuning;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The CUDA backend, available if the jar has kernels and the machine a device that runs them. The
 * first answer is cached: drivers do not change while a JVM runs.
 */
public final class CudaBackendProvider implements QrBackendProvider {

  /** Oldest driver API that runs the kernels' machine code: CUDA 13.0, driver 580. */
  private static final int OLDEST_DRIVER = 13000;

  private static final int OLDEST_CAPABILITY = 80;

  private static final JvmPart<Verdict> VERDICT =
      JvmPart.of("CUDA driver", () -> probe(KernelImage.isInJar(), JCudaCalls::new));

  private static final JvmPart<DeviceSessions> SESSIONS =
      JvmPart.of("device sessions", CudaBackendProvider::sessionsOfJvm);

  private static final JvmPart<AtomicBoolean> KEPT_OPEN =
      JvmPart.of("whether devices stay open", AtomicBoolean::new);

  private final Supplier<Verdict> probe;
  private final Supplier<DeviceSessions> sessions;

  /**
   * The outcome of the probe: the driver and the number of devices, or the reason why there is
   * none.
   */
  record Verdict(@Nullable String reason, @Nullable CudaDriver driver, int devices) {
    CudaDriver found() {
      return Objects.requireNonNull(driver, reason);
    }

    static Verdict no(String reason) {
      return new Verdict(reason, null, 0);
    }
  }

  /** For the service loader. */
  public CudaBackendProvider() {
    probe = VERDICT::get;
    sessions = SESSIONS::get;
  }

  /** For tests, with a given verdict; sessions are closed as soon as they are unused. */
  CudaBackendProvider(Verdict verdict) {
    Optional<DeviceSessions> its =
        Optional.ofNullable(verdict.driver()).map(d -> new DeviceSessions(d, 0));
    probe = () -> verdict;
    sessions = its::orElseThrow;
  }

  CudaBackendProvider(Verdict verdict, DeviceSessions sessions) {
    probe = () -> verdict;
    this.sessions = () -> sessions;
  }

  private static DeviceSessions sessionsOfJvm() {
    long millis = Math.round(1000 * Keys.IDLE_SECONDS.ofJvm());
    return new DeviceSessions(VERDICT.get().found(), millis)
        .keptWhile(KEPT_OPEN.get()::get)
        .closedAtExit();
  }

  /** Probes for the driver and devices; never throws. */
  static Verdict probe(boolean kernels, Supplier<CudaCalls> open) {
    if (!kernels) {
      return Verdict.no(KernelImage.NO_KERNELS);
    }
    try {
      var driver = new CudaDriver(open.get());
      int code = driver.calls().init();
      if (code != CudaDriver.SUCCESS) {
        return Verdict.no(
            "the CUDA driver does not start: "
                + driver.calls().errorName(code)
                + " ("
                + code
                + ")");
      }
      int[] value = {0};
      driver.check("cuDriverGetVersion", driver.calls().driverVersion(value));
      if (value[0] < OLDEST_DRIVER) {
        return Verdict.no(
            "the CUDA driver is too old: its API is "
                + value[0] / 1000
                + "."
                + value[0] % 1000 / 10
                + ", the kernels need 13.0 (driver 580)");
      }
      driver.check("cuDeviceGetCount", driver.calls().deviceCount(value));
      int devices = value[0];
      if (devices == 0) {
        return Verdict.no("no CUDA device is visible to this process");
      }
      for (int d = 0; d < devices; d++) {
        int capability = CudaDevice.capability(driver, d);
        if (capability < OLDEST_CAPABILITY) {
          return Verdict.no(
              "device " + d + " has compute capability " + capability / 10.0 + ", 8.0 is needed");
        }
      }
      return new Verdict(null, driver, devices);
    } catch (LinkageError e) {
      return Verdict.no(notLoaded(e));
    } catch (CudaException e) {
      return Verdict.no(String.valueOf(e.getMessage()));
    }
  }

  /**
   * JCuda's first line names its own library; the library missing from it is named further down.
   */
  private static String notLoaded(LinkageError e) {
    if (String.valueOf(e.getMessage()).contains("libcuda.so.1: cannot open")) {
      return "no CUDA driver (libcuda.so.1) on this machine";
    }
    return "JCuda's native library cannot be loaded: " + firstLine(e);
  }

  private static String firstLine(Throwable e) {
    String text = String.valueOf(e.getMessage());
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }

  @Override
  public String name() {
    return "cuda";
  }

  @Override
  public Optional<String> unavailable() {
    return Optional.ofNullable(probe.get().reason());
  }

  @Override
  public SubtreeFactorizer create(int device) {
    return new CudaSubtreeFactorizer(sessionsWith(device), device, null);
  }

  @Override
  public SubtreeFactorizer create(List<Integer> devices) {
    DeviceSessions its = sessionsWith(devices.get(0));
    devices.forEach(this::sessionsWith);
    return new CudaSubtreeFactorizer(its, devices, null);
  }

  @Override
  public OpenDevice open(int device) {
    DeviceSessions.Lease lease = sessionsWith(device).acquire(device);
    try {
      lease.session().prepare();
    } catch (FatalCudaException e) {
      lease.lost(e);
      throw e;
    } catch (RuntimeException e) {
      lease.close();
      throw e;
    }
    return lease::close;
  }

  private DeviceSessions sessionsWith(int device) {
    Verdict verdict = probe.get();
    if (verdict.reason() != null) {
      throw new BackendUnavailableException("no CUDA backend: " + verdict.reason(), "cuda");
    }
    if (device < 0 || device >= verdict.devices()) {
      throw new BackendUnavailableException(
          "no CUDA device " + device + ": there are " + verdict.devices(), "cuda");
    }
    return sessions.get();
  }

  @Override
  public Optional<DenseFactorization> dense(
      int device, int rows, int columns, boolean keepQ, int threads, Tuning tuning) {
    return Optional.of(
        new CudaDenseQr(sessions.get(), device, rows, columns, keepQ, threads, tuning));
  }

  @Override
  public Optional<PursuitSite> pursuit(int device, double[][] rows, int threads) {
    return rows[0].length > CudaPursuit.MOST_COLUMNS
        ? Optional.empty()
        : Optional.of(new CudaPursuit(sessions.get(), device, rows, threads));
  }

  @Override
  public int devices() {
    return probe.get().devices();
  }

  /** By the model of {@link Crossover}, for the slowest of the devices. */
  @Override
  public double minimumIntensity() {
    double least = Crossover.REFERENCE;
    CudaDriver driver = probe.get().driver();
    for (int d = 0; driver != null && d < devices(); d++) {
      least = Math.max(least, Crossover.intensity(Crossover.peak(driver, d)));
    }
    return least;
  }

  /** Computed from the properties that the device reports. */
  @Override
  public Optional<DeviceModel> device(int device) {
    Verdict verdict = probe.get();
    if (device < 0 || device >= verdict.devices()) {
      return Optional.empty();
    }
    CudaDriver driver = verdict.found();
    long[] bytes = {0};
    try {
      driver.check("cuDeviceTotalMem", driver.calls().deviceMemory(device, bytes));
      return Optional.of(DeviceModel.ofPeak(Crossover.peak(driver, device), bytes[0]));
    } catch (CudaException e) {
      // A plan needs no exact rates; a broken device will be reported on its use.
      return Optional.empty();
    }
  }

  @Override
  public Optional<DeviceKey> key(int device) {
    Verdict verdict = probe.get();
    if (device < 0 || device >= verdict.devices()) {
      return Optional.empty();
    }
    try {
      CudaDriver driver = verdict.found();
      String kernels = KernelImage.fingerprint(CudaDevice.capability(driver, device));
      return Optional.of(
          new DeviceKey(CudaDevice.chip(driver, device), DriverVersion.of(driver), kernels));
    } catch (SparseQrException | UncheckedIOException e) {
      // Without it nothing is tuned; a broken device, or a jar without its kernels, will be
      // reported on its use.
      return Optional.empty();
    }
  }

  @Override
  public Optional<TuningBench> bench(int device, int threads) {
    return Optional.of(
        new CudaTuningBench(sessionsWith(device), device, threads, CudaTuningBench.Sizes.USUAL));
  }

  @Override
  public String deviceText(int device) {
    Verdict verdict = probe.get();
    int capability = CudaDevice.capability(verdict.found(), device);
    return "device %d: compute capability %s, kernels: %s"
        .formatted(device, capability / 10.0, KernelImage.kind(capability));
  }

  @Override
  public long deviceBytesInUse() {
    return LiveResources.deviceBytes();
  }

  /** {@inheritDoc} Not where they are to be released at once: sparqr.cuda.idleSeconds is 0. */
  @Override
  public void keepOpen(boolean keep) {
    KEPT_OPEN.get().set(keep && Keys.IDLE_SECONDS.ofJvm() > 0);
  }

  /**
   * What the CPU does while a device is being opened, or, if devices stay open, while a task
   * begins. Not by whether one is open just now: the same problem would go to the CPU in one solve
   * and to the device in the next, with other bits.
   */
  @Override
  public double minimumFlops() {
    return KEPT_OPEN.get().get() ? Crossover.OPEN_FLOPS : Crossover.FLOPS;
  }
}
