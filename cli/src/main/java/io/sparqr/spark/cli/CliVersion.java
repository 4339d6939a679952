/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The project's version, from a resource written by the build. */
final class CliVersion implements IVersionProvider {
  @Override
  public String[] getVersion() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = CliVersion.class.getResourceAsStream("version.properties")) {
      properties.load(in);
    }
    return new String[] {
      "sparqr " + properties.getProperty("version"),
      "Spark " + org.apache.spark.package$.MODULE$.SPARK_VERSION(),
      "Java " + System.getProperty("java.version")
    };
  }
}
