/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Circles of top-level classes within a package: the strongly connected components of who uses whom
 * (Tarjan 1972). A sealed type does not use the types that it permits.
 */
final class ClassCircles {

  private final Map<String, Set<String>> uses = new HashMap<>();
  private final Map<String, Integer> number = new HashMap<>();
  private final Map<String, Integer> low = new HashMap<>();
  private final Deque<String> open = new ArrayDeque<>();
  private final List<Set<String>> circles = new ArrayList<>();

  ClassCircles(JavaClasses classes) {
    for (JavaClass c : classes) {
      Set<String> own = uses.computeIfAbsent(top(c), k -> new TreeSet<>());
      c.getDirectDependenciesFromSelf().stream()
          .map(d -> d.getTargetClass().getBaseComponentType())
          .filter(t -> t.getPackageName().equals(c.getPackageName()))
          .forEach(t -> own.add(top(t)));
    }
  }

  private static String top(JavaClass c) {
    return c.getEnclosingClass().map(ClassCircles::top).orElse(c.getName());
  }

  /** The components, those of one class included. */
  List<Set<String>> all() {
    for (String c : new TreeSet<>(uses.keySet())) {
      if (!number.containsKey(c)) {
        visit(c);
      }
    }
    return circles;
  }

  private void visit(String c) {
    number.put(c, number.size());
    low.put(c, number.get(c));
    open.push(c);
    for (String d : uses.getOrDefault(c, Set.of())) {
      if (!number.containsKey(d)) {
        visit(d);
        low.merge(c, low.get(d), Math::min);
      } else if (open.contains(d)) {
        low.merge(c, number.get(d), Math::min);
      }
    }
    if (low.get(c).equals(number.get(c))) {
      Set<String> circle = new TreeSet<>();
      do {
        circle.add(open.peek());
      } while (!open.pop().equals(c));
      circles.add(circle);
    }
  }
}
