/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.report.RunRecord;
import picocli.CommandLine.IVersionProvider;

/** The project's version, as reports have it. */
final class CliVersion implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "sparqr " + RunRecord.version(),
      "Spark " + org.apache.spark.package$.MODULE$.SPARK_VERSION(),
      "Java " + System.getProperty("java.version")
    };
  }
}
