/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.spark.SparkConf;
import org.bytedeco.javacpp.Loader;

/** JavaCPP, which loads OpenBLAS: one copy, of the version that OpenBLAS was built with. */
final class NativeCheck implements HostCheck {

  private static final String JAVACPP = "META-INF/maven/org.bytedeco/javacpp/pom.properties";
  private static final String OPENBLAS = "META-INF/maven/org.bytedeco/openblas/pom.properties";

  @Override
  public String name() {
    return "natives";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    judge(
        System.getProperty("os.name") + " " + System.getProperty("os.arch"),
        versions(JAVACPP),
        versions(OPENBLAS),
        findings);
  }

  /**
   * The verdict.
   *
   * @param platform system and architecture
   * @param javacpp versions of JavaCPP on the class path
   * @param openblas versions of OpenBLAS, each ending in "-" and the version of its JavaCPP
   */
  static void judge(
      String platform, List<String> javacpp, List<String> openblas, Findings findings) {
    if (!platform.equals("Linux amd64")) {
      findings.note("", "%s: the natives are for Linux on x86-64, elsewhere plain Java", platform);
      return;
    }
    String wanted = openblas.isEmpty() ? "" : openblas.get(openblas.size() - 1);
    wanted = wanted.substring(wanted.lastIndexOf('-') + 1);
    boolean known = !openblas.isEmpty();
    if (javacpp.size() > 1 || known && javacpp.size() == 1 && !javacpp.get(0).equals(wanted)) {
      findings.warning(
          "leave other copies of JavaCPP off the class path, or bring them to " + wanted,
          "JavaCPP %s on the class path, OpenBLAS %s needs %s: the other one may be loaded first,"
              + " and BLAS is plain Java then",
          String.join(" and ", javacpp),
          String.join(" and ", openblas),
          wanted);
    } else {
      findings.ok(
          "%s, OpenBLAS %s",
          platform, known ? String.join(" and ", openblas) : "without a version");
    }
  }

  private static List<String> versions(String resource) {
    var found = new TreeSet<String>();
    try {
      List<URL> all =
          new ArrayList<>(Collections.list(Loader.class.getClassLoader().getResources(resource)));
      for (URL url : all) {
        var properties = new Properties();
        try (InputStream in = url.openStream()) {
          properties.load(in);
        }
        found.add(properties.getProperty("version", "of no version"));
      }
    } catch (IOException e) {
      return List.of();
    }
    return List.copyOf(found);
  }
}
