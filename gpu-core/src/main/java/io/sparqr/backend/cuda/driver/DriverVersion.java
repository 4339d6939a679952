/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The version of the driver: that of its API, and its own where the kernel's module tells it. */
public final class DriverVersion {

  private static final Path MODULE = Path.of("/proc/driver/nvidia/version");

  /** "NVRM version: NVIDIA UNIX ... Kernel Module 580.65.06 Sun Jul 27 ...". */
  private static final Pattern OWN =
      Pattern.compile("NVRM version:.*?\\s(\\d+\\.\\d+(?:\\.\\d+)?)\\s");

  private DriverVersion() {}

  /** Such as "13.0 (580.65.06)". */
  public static String of(CudaDriver driver) {
    return of(driver, MODULE);
  }

  static String of(CudaDriver driver, Path module) {
    int[] version = {0};
    driver.check("cuDriverGetVersion", driver.calls().driverVersion(version));
    String api = "%d.%d".formatted(version[0] / 1000, version[0] % 1000 / 10);
    return own(module).map(own -> "%s (%s)".formatted(api, own)).orElse(api);
  }

  private static Optional<String> own(Path module) {
    try {
      Matcher found = OWN.matcher(Files.readString(module));
      return found.find() ? Optional.of(found.group(1)) : Optional.empty();
    } catch (IOException e) {
      // another system than Linux, or a container that hides it
      return Optional.empty();
    }
  }
}
