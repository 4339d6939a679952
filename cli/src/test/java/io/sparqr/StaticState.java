/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.sparqr.jvm.JvmPart;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Static variables that may change, or whose values may: it looks at the values themselves, because
 * a constant set and a registry have the same type. A key to a part of the JVM's state is none.
 */
final class StaticState {

  /** What changes by its nature: counters, locks, caches, threads. */
  private static final List<String> CHANGING =
      List.of(
          "java.util.concurrent.", "java.lang.ref.", "java.lang.ThreadLocal", "java.util.Random");

  private static final List<String> CONSTANT =
      List.of(
          "java.util.ImmutableCollections",
          "java.util.Collections$Unmodifiable",
          "java.util.Collections$Empty",
          "java.util.Collections$Singleton");

  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());

  private StaticState() {}

  /** The names of those variables of some classes, which are initialized. */
  static SortedSet<String> of(Iterable<JavaClass> classes) {
    var found = new TreeSet<String>();
    for (JavaClass c : classes) {
      for (JavaField f : c.getFields()) {
        Set<JavaModifier> is = f.getModifiers();
        if (is.contains(JavaModifier.STATIC)
            && !is.contains(JavaModifier.SYNTHETIC)
            && (!is.contains(JavaModifier.FINAL) || changes(f))) {
          found.add(f.getFullName());
        }
      }
    }
    return found;
  }

  private static boolean changes(JavaField f) {
    if (f.getRawType().isPrimitive() || f.getRawType().isEquivalentTo(String.class)) {
      return false;
    }
    return new StaticState().changes(value(f.reflect(), null));
  }

  private static Object value(Field field, Object of) {
    try {
      field.setAccessible(true);
      return field.get(of);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private boolean changes(Object value) {
    if (value == null || value instanceof JvmPart || !seen.add(value)) {
      return false;
    }
    String name = value.getClass().getName();
    if (value.getClass() == Object.class || begins(name, CHANGING)) {
      return true;
    }
    if (value.getClass().isArray()) {
      // A table of constants; nothing tells it from a variable but its use.
      return !value.getClass().componentType().isPrimitive()
          && Stream.iterate(0, i -> i < Array.getLength(value), i -> i + 1)
              .anyMatch(i -> changes(Array.get(value, i)));
    }
    if (value instanceof Collection<?> all) {
      return !begins(name, CONSTANT) || all.stream().anyMatch(this::changes);
    }
    if (value instanceof Map<?, ?> all) {
      return !begins(name, CONSTANT) || all.values().stream().anyMatch(this::changes);
    }
    return (name.startsWith("io.sparqr") || name.startsWith("sparqr"))
        && !value.getClass().isHidden()
        && hasChangingField(value);
  }

  private boolean hasChangingField(Object value) {
    for (Class<?> c = value.getClass(); c.getName().contains("sparqr"); c = c.getSuperclass()) {
      for (Field f : c.getDeclaredFields()) {
        boolean own = !Modifier.isStatic(f.getModifiers()) && !f.isSynthetic();
        if (own && (!Modifier.isFinal(f.getModifiers()) || changes(value(f, value)))) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean begins(String name, List<String> beginnings) {
    return beginnings.stream().anyMatch(name::startsWith);
  }
}
