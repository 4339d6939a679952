/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.configuration.Keys;
import io.sparqr.configuration.Mounts;
import io.sparqr.configuration.PrivateFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.spark.SparkConf;

/** The folders that native libraries are written to and loaded from. */
final class FolderCheck implements HostCheck {

  private static final String TEMPORARY = "java.io.tmpdir";
  private static final String CACHE = "org.bytedeco.javacpp.cachedir";
  private static final String HOME = "user.home";

  private final Mounts mounts;

  FolderCheck(Mounts mounts) {
    this.mounts = mounts;
  }

  @Override
  public String name() {
    return "folders";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    // Where native code may not be run from one of these, it is in the private folder.
    boolean all = Keys.NATIVE_FOLDER.find(System::getProperty).isPresent();
    Path temporary = Path.of(System.getProperty(TEMPORARY));
    if (!all && mounts.noexec(temporary).isEmpty()) {
      look(temporary, TEMPORARY, "the interface to BLAS", findings);
    }
    String home = System.getProperty(HOME, "?");
    String cache = System.getProperty(CACHE);
    Path usual = Path.of(home, ".javacpp", "cache");
    if (cache != null) {
      look(Path.of(cache), CACHE, "OpenBLAS", findings);
    } else if (!Path.of(home).isAbsolute()) {
      findings.warning(option(CACHE), "this user has no home folder (%s = %s)", HOME, home);
    } else if (!all && mounts.noexec(usual).isEmpty()) {
      look(usual, CACHE, "OpenBLAS", findings);
    }
    try {
      look(PrivateFolder.open().path(), Keys.NATIVE_FOLDER.name(), "native code", findings);
    } catch (IOException e) {
      findings.warning(option(Keys.NATIVE_FOLDER.name()), "%s", String.valueOf(e.getMessage()));
    }
  }

  /**
   * Looks at one folder.
   *
   * @param key the system property that names another
   * @param what is loaded from there
   */
  void look(Path folder, String key, String what, Findings findings) {
    Optional<Path> noexec = mounts.noexec(folder);
    Path there = folder.toAbsolutePath();
    while (there.getParent() != null && !Files.exists(there)) {
      there = there.getParent();
    }
    if (noexec.isPresent()) {
      findings.warning(
          option(key),
          "%s is on %s, mounted noexec: %s cannot be loaded from there",
          folder,
          noexec.get(),
          what);
    } else if (!Files.isDirectory(there) || !Files.isWritable(there)) {
      findings.warning(
          option(key), "%s cannot be written to: %s cannot be loaded from there", folder, what);
    } else {
      findings.ok("%s, for %s, may hold native code", folder, what);
    }
  }

  private static String option(String key) {
    return "-D%s=FOLDER in spark.driver.extraJavaOptions and spark.executor.extraJavaOptions"
        .formatted(key);
  }
}
