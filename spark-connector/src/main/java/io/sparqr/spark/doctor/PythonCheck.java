/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/** The Python that a PySpark program would get here. */
final class PythonCheck implements HostCheck {

  private static final Pattern VERSION = Pattern.compile("\\d+\\.\\d+\\.\\d+");
  private static final long PATIENCE_SECONDS = 20;

  private final boolean driver;

  PythonCheck(boolean driver) {
    this.driver = driver;
  }

  @Override
  public String name() {
    return "python";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    String command = command(conf, driver);
    Optional<String> version = version(command);
    if (version.isPresent()) {
      findings.ok("Python %s (%s)", version.get(), command);
    } else {
      findings.note(
          "PYSPARK_PYTHON=/path/to/python3, if you use Python",
          "no Python by the name %s: programs in Python would not run",
          command);
    }
  }

  /** As PySpark chooses it. */
  static String command(SparkConf conf, boolean driver) {
    String workers =
        first(conf.get("spark.pyspark.python", ""), System.getenv("PYSPARK_PYTHON"), "python3");
    return driver
        ? first(
            conf.get("spark.pyspark.driver.python", ""),
            System.getenv("PYSPARK_DRIVER_PYTHON"),
            workers)
        : workers;
  }

  @SuppressWarnings("NullAway") // environment variables may be missing
  private static String first(String... texts) {
    for (String text : texts) {
      if (text != null && !text.isBlank()) {
        return text;
      }
    }
    return "";
  }

  /** What it says of itself; empty if it does not start. */
  static Optional<String> version(String command) {
    try {
      Process process =
          new ProcessBuilder(command, "-c", "import platform; print(platform.python_version())")
              .redirectErrorStream(true)
              .start();
      process.getOutputStream().close();
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return Optional.empty();
      }
      String out =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return VERSION.matcher(out).lookingAt() ? Optional.of(out) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
