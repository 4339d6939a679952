/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code java -jar} with the users' jar, which has all but Spark. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class WithoutSparkTest {

  @Test
  void usageInsteadOfATrace() throws Exception {
    String path =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("org/apache/spark".replace('/', File.separatorChar)))
            .collect(Collectors.joining(File.pathSeparator));
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                path,
                SparqrCli.class.getName(),
                "solve")
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isEqualTo(2);
    assertThat(out)
        .startsWith("sparqr: this jar runs on Spark, which is not on the class path")
        .contains("Usage: spark-submit --class io.sparqr.spark.cli.SparqrCli JAR")
        .doesNotContain("\tat ", "Exception");
  }
}
