/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.numeric.dense.NativeVersions;
import java.util.Optional;
import org.apache.spark.SparkConf;

/** JavaCPP, which loads OpenBLAS: one copy, of the version that OpenBLAS was built with. */
final class NativeCheck implements HostCheck {

  @Override
  public String name() {
    return "natives";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    judge(
        System.getProperty("os.name") + " " + System.getProperty("os.arch"),
        NativeVersions.ofClassPath(),
        findings);
  }

  /**
   * The verdict.
   *
   * @param platform system and architecture
   * @param versions on the class path
   */
  static void judge(String platform, NativeVersions versions, Findings findings) {
    if (!platform.equals("Linux amd64")) {
      findings.note("", "%s: the natives are for Linux on x86-64, elsewhere plain Java", platform);
      return;
    }
    Optional<String> mismatch = versions.mismatch();
    if (mismatch.isPresent()) {
      findings.warning(
          "leave other copies of JavaCPP off the class path"
              + versions.wanted().map(w -> ", or bring them to " + w).orElse(""),
          "%s: the other one may be loaded first, and BLAS is plain Java then",
          mismatch.get());
    } else {
      boolean known = !versions.openblas().isEmpty();
      findings.ok(
          "%s, OpenBLAS %s",
          platform, known ? String.join(" and ", versions.openblas()) : "without a version");
    }
  }
}
