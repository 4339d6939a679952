/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The table of packages in CONTRIBUTING.
 *
 * @param order the packages from the ground to the roof
 * @param perModule number of packages of each module
 */
record Rooms(List<String> order, Map<String, Integer> perModule) {

  /** A package of ours; ".wire" is beside the one before. */
  private static final Pattern PACKAGE = Pattern.compile("`((?:io\\.sparqr|sparqr)?[.\\w]+)`");

  private static final Pattern MODULE = Pattern.compile("`([\\w-]+)`");

  static Rooms read() throws IOException {
    Path file = Path.of(System.getProperty("basedir", "."), "..", "CONTRIBUTING.md");
    String text = Files.readString(file);
    var order = new ArrayList<String>();
    var counts = new TreeMap<String, Integer>();
    String module = "";
    for (String line :
        text.substring(text.indexOf("| module | package"))
            .lines()
            .takeWhile(l -> l.startsWith("|"))
            .takeWhile(l -> !l.startsWith("| tests of"))
            .toList()) {
      var named = MODULE.matcher(line.split("\\|")[1]);
      module = named.find() ? named.group(1) : module;
      String parent = "";
      var found = PACKAGE.matcher(line.split("\\|")[2]);
      while (found.find()) {
        String p = found.group(1);
        if (p.startsWith("io.") || p.startsWith("sparqr.ml") || p.startsWith(".")) {
          p = p.startsWith(".") ? parent + p : p;
          parent = parent.isEmpty() ? p.substring(0, p.lastIndexOf('.')) : parent;
          order.add(p);
          counts.merge(module, 1, Integer::sum);
        }
      }
    }
    return new Rooms(order, counts);
  }
}
