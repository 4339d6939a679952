/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.bytedeco.javacpp.Loader;

/**
 * JavaCPP, which loads OpenBLAS, must be of the version that OpenBLAS was built with. (Its native
 * code is bound to the names of its classes, so it cannot be moved out of the way of another copy.)
 *
 * @param javacpp its versions on the class path, the one that is loaded first
 * @param openblas versions of OpenBLAS in the same order, each ending in "-" and the version of its
 *     JavaCPP; none if they are not known
 */
public record NativeVersions(List<String> javacpp, List<String> openblas) {

  private static final String JAVACPP = "META-INF/maven/org.bytedeco/javacpp/pom.properties";
  private static final String OPENBLAS = "META-INF/maven/org.bytedeco/openblas/pom.properties";

  /** Copies the lists. */
  public NativeVersions {
    javacpp = List.copyOf(javacpp);
    openblas = List.copyOf(openblas);
  }

  /** Those of this JVM. */
  public static NativeVersions ofClassPath() {
    return new NativeVersions(versions(JAVACPP), versions(OPENBLAS));
  }

  /** The version of JavaCPP that OpenBLAS needs; empty if it is not known. */
  public Optional<String> wanted() {
    return openblas.stream().findFirst().map(v -> v.substring(v.lastIndexOf('-') + 1));
  }

  /** What is wrong, in a line; empty if there is only the version that OpenBLAS needs. */
  public Optional<String> mismatch() {
    boolean several = javacpp.size() > 1;
    boolean another =
        javacpp.size() == 1 && wanted().isPresent() && !javacpp.get(0).equals(wanted().get());
    return several || another
        ? Optional.of(
            "JavaCPP %s on the class path, OpenBLAS %s needs %s"
                .formatted(
                    String.join(" and ", javacpp),
                    String.join(" and ", openblas),
                    wanted().orElse("one of its own")))
        : Optional.empty();
  }

  private static List<String> versions(String resource) {
    var found = new ArrayList<String>();
    try {
      for (URL url : Collections.list(Loader.class.getClassLoader().getResources(resource))) {
        var properties = new Properties();
        try (InputStream in = url.openStream()) {
          properties.load(in);
        }
        String version = properties.getProperty("version", "of no version");
        if (!found.contains(version)) {
          found.add(version);
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    return found;
  }
}
