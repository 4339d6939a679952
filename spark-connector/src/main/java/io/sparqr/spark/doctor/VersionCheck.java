/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/** Java, Spark and Scala against the table of docs/guide/versions.md. */
final class VersionCheck implements HostCheck {

  static final int OLDEST_JAVA = 17;
  static final String SCALA = "2.13";

  /** The minor versions of the guide's table, which a test compares. */
  static final List<String> SPARK = List.of("4.0", "4.1", "4.2", "4.3");

  private static final Pattern MINOR = Pattern.compile("(\\d+\\.\\d+)\\..*");

  @Override
  public String name() {
    return "versions";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    look(
        Runtime.version().feature(),
        org.apache.spark.package$.MODULE$.SPARK_VERSION(),
        scala.util.Properties$.MODULE$.versionNumberString(),
        findings);
  }

  static void look(int java, String spark, String scala, Findings findings) {
    int before = findings.list().size();
    if (java < OLDEST_JAVA) {
      findings.error("install a JDK 17 and set JAVA_HOME to it", "Java %d, 17 is needed", java);
    }
    if (!scala.startsWith(SCALA + ".")) {
      findings.error(
          "take the Spark distribution for Scala 2.13", "Scala %s, %s is needed", scala, SCALA);
    }
    Matcher m = MINOR.matcher(spark);
    String minor = m.matches() ? m.group(1) : spark;
    if (spark.startsWith("3.") || spark.startsWith("2.")) {
      findings.error("use Spark 4.0 or later", "Spark %s, 4.0 or later is needed", spark);
    } else if (!SPARK.contains(minor)) {
      findings.warning(
          "use Spark "
              + SPARK.get(SPARK.size() - 1)
              + ", or run the tests of docs/guide/versions.md",
          "Spark %s was not tried with this version of Sparqr",
          spark);
    }
    if (findings.list().size() == before) {
      findings.ok("Java %d, Spark %s, Scala %s", java, spark, scala);
    }
  }
}
