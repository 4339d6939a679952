/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.backend.DeviceKey;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.configuration.Keys;
import io.sparqr.jvm.JvmPart;
import io.sparqr.spark.plan.PlannedTuning;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's choice of a tuning: that of {@link Keys#TUNING_FILE} for the devices that the tasks
 * run on, if it has one; otherwise the constants. Never an error.
 *
 * @param tuning for the plan
 * @param warning what is wrong with a file that is there and is not used; empty: nothing
 */
public record TuningChoice(PlannedTuning tuning, Optional<String> warning) {

  private static final Logger LOG = LoggerFactory.getLogger(TuningChoice.class);

  /** The setting for no file at all. */
  private static final String NO_FILE = "none";

  /** Warnings that the log has already. */
  private static final JvmPart<Set<String>> LOGGED =
      JvmPart.of("logged warnings of tunings", ConcurrentHashMap::newKeySet);

  /**
   * The choice of a driver.
   *
   * @param here whether the devices of this JVM run the tasks; if not, those that executors report
   *     ({@link DeviceReport})
   */
  public static TuningChoice of(boolean here) {
    return of(setting(), usual(), here ? TuningChoice::ofThisJvm : DeviceReport::keysOfAll);
  }

  /** As above, without a report that could have the warning: the log has it, once. */
  public static PlannedTuning logged(boolean here) {
    TuningChoice choice = of(here);
    choice.warning.filter(LOGGED.get()::add).ifPresent(w -> LOG.warn("{}", w));
    return choice.tuning;
  }

  /** The file that {@code sparqr tune} writes unless another is named; empty without a home. */
  public static Optional<Path> file() {
    Optional<String> set = setting().filter(s -> !s.equals(NO_FILE));
    return set.isPresent() ? set.map(Path::of) : usual();
  }

  private static Optional<String> setting() {
    return Keys.TUNING_FILE.find(System::getProperty);
  }

  private static Optional<Path> usual() {
    String home = System.getProperty("user.home", "?");
    // A user without a name has the home "?".
    return Optional.of(Path.of(home))
        .filter(Path::isAbsolute)
        .map(h -> h.resolve(".sparqr").resolve("tuning.json"));
  }

  /** The different ones of this JVM's devices. */
  static List<DeviceKey> ofThisJvm() {
    Backends.Cuda cuda = Backends.cuda();
    var keys = new ArrayList<DeviceKey>();
    if (cuda.obstacle().isEmpty()) {
      QrBackendProvider provider = cuda.provider().orElseThrow();
      for (int d = 0; d < provider.devices(); d++) {
        provider.key(d).filter(k -> !keys.contains(k)).ifPresent(keys::add);
      }
    }
    return keys;
  }

  /**
   * The choice.
   *
   * @param set the setting
   * @param usual where a file may be without one
   * @param devices the different ones that tasks run on
   */
  static TuningChoice of(
      Optional<String> set, Optional<Path> usual, Supplier<List<DeviceKey>> devices) {
    if (set.filter(NO_FILE::equals).isPresent()) {
      return constants("asked for");
    }
    Path file;
    try {
      file = set.map(Path::of).or(() -> usual).orElse(null);
    } catch (InvalidPathException e) {
      return ignored(String.valueOf(set.orElse("")), "it is no name of a file");
    }
    if (file == null || set.isEmpty() && !Files.exists(file)) {
      return constants("no tuning file");
    }
    TuningFile.Content content = TuningFile.read(file);
    if (content.fault().isPresent()) {
      return ignored(file.toString(), content.fault().get());
    }
    List<TuningFile.Entry> entries = content.entries();
    List<DeviceKey> keys = devices.get();
    if (keys.size() != 1) {
      return constants(
          keys.isEmpty()
              ? "the devices are not known (executors tell of theirs by SparqrPlugin)"
              : "the devices differ: %s and %s".formatted(keys.get(0), keys.get(1)));
    }
    for (TuningFile.Entry e : entries) {
      if (e.key().equals(keys.get(0))) {
        return new TuningChoice(
            new PlannedTuning(e.tuning(), "file %s of %s".formatted(file, e.date())),
            Optional.empty());
      }
    }
    String others = entries.isEmpty() ? "it has no tuning" : "it is for " + entries.get(0).key();
    return ignored(
        file.toString(),
        "%s; the device is %s (sparqr tune makes one)".formatted(others, keys.get(0)));
  }

  private static TuningChoice constants(String reason) {
    return new TuningChoice(PlannedTuning.constants(reason), Optional.empty());
  }

  private static TuningChoice ignored(String file, String reason) {
    String text = "the tuning file %s is ignored: %s".formatted(file, reason);
    return new TuningChoice(PlannedTuning.constants(text), Optional.of(text));
  }
}
