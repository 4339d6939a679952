/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.error.BackendUnavailableException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;

/** The backends of this JVM by name, and the choice among them. */
public final class Backends {

  private static final System.Logger LOG = System.getLogger(Backends.class.getName());
  private static final Map<String, Boolean> LOGGED = new ConcurrentHashMap<>();

  private Backends() {}

  /**
   * What was chosen.
   *
   * @param provider the backend
   * @param reason why; one line
   */
  public record Chosen(QrBackendProvider provider, String reason) {
    /** Whether it needs a device. */
    public boolean device() {
      return provider.name().equals("cuda");
    }
  }

  /**
   * Chooses for this JVM.
   *
   * @param intensity flops / bytes of the fronts
   * @throws BackendUnavailableException if CUDA is required and not there, or there is no CPU
   *     backend on the class path
   */
  public static Chosen choose(BackendChoice choice, double intensity) {
    if (choice == BackendChoice.CPU) {
      return new Chosen(cpu(), "asked for");
    }
    Optional<QrBackendProvider> cuda = find("cuda");
    String why =
        cuda.isEmpty()
            ? "no CUDA backend in this build"
            : cuda.get().unavailable().map(r -> "CUDA: " + r).orElse(null);
    if (choice == BackendChoice.REQUIRE_CUDA) {
      if (why != null) {
        throw new BackendUnavailableException("CUDA is required: " + why, "cuda");
      }
      return new Chosen(cuda.get(), "required");
    }
    if (why == null && cuda.get().devices() == 0) {
      why = "no CUDA device";
    }
    if (why == null && intensity < cuda.get().minimumIntensity()) {
      why =
          String.format(
              Locale.ROOT,
              "arithmetic intensity %.1f flops a byte is below the device's threshold %.1f",
              intensity,
              cuda.get().minimumIntensity());
    }
    if (why == null) {
      return new Chosen(
          cuda.get(), String.format(Locale.ROOT, "arithmetic intensity %.1f", intensity));
    }
    if (LOGGED.putIfAbsent(why, true) == null) {
      LOG.log(System.Logger.Level.INFO, "sparse QR on the CPU: {0}", why);
    }
    return new Chosen(cpu(), why);
  }

  private static QrBackendProvider cpu() {
    return find("cpu")
        .orElseThrow(
            () -> new BackendUnavailableException("no CPU backend on the class path", "cpu"));
  }

  private static Optional<QrBackendProvider> find(String name) {
    var loader =
        ServiceLoader.load(QrBackendProvider.class, QrBackendProvider.class.getClassLoader());
    var it = loader.iterator();
    while (true) {
      try {
        if (!it.hasNext()) {
          return Optional.empty();
        }
        QrBackendProvider p = it.next();
        if (p.name().equals(name)) {
          return Optional.of(p);
        }
      } catch (LinkageError | java.util.ServiceConfigurationError e) {
        LOG.log(System.Logger.Level.DEBUG, "a backend that cannot be loaded", e);
      }
    }
  }
}
