/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Makes equal names distinct as R's {@code make.unique} does: the first stays, the later get .1, .2
 * and so on. A factor x with a level 1 beside a column x1 is such a case.
 */
final class DistinctNames {

  private DistinctNames() {}

  /**
   * The names that change, by their place. O(names), with 8 bytes for each as long as there are no
   * equal ones.
   */
  static Map<Integer, String> of(int count, IntFunction<String> name) {
    return mayCollide(count, name)
        ? renamed(IntStream.range(0, count).mapToObj(name).toList())
        : Map.of();
  }

  private static boolean mayCollide(int count, IntFunction<String> name) {
    long[] hashes = new long[count];
    for (int k = 0; k < count; k++) {
      hashes[k] = hash(name.apply(k));
    }
    Arrays.sort(hashes);
    for (int k = 1; k < hashes.length; k++) {
      if (hashes[k] == hashes[k - 1]) {
        return true;
      }
    }
    return false;
  }

  private static long hash(String name) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < name.length(); i++) {
      hash = (hash ^ name.charAt(i)) * 0x100000001b3L;
    }
    return hash;
  }

  private static Map<Integer, String> renamed(List<String> names) {
    Set<String> all = new HashSet<>(names);
    Set<String> seen = new HashSet<>();
    Map<String, Integer> last = new HashMap<>();
    Map<Integer, String> changed = new LinkedHashMap<>();
    for (int k = 0; k < names.size(); k++) {
      String name = names.get(k);
      if (!seen.add(name)) {
        int suffix = last.getOrDefault(name, 0);
        String other;
        do {
          suffix++;
          other = name + "." + suffix;
        } while (!all.add(other));
        last.put(name, suffix);
        changed.put(k, other);
      }
    }
    return changed;
  }
}
