/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.SparseQrException;
import java.io.IOException;
import java.io.InvalidClassException;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The classes that a serialized record of one type may contain: its own, those of its components
 * including nested records, and arrays of numbers. For an error as a component, these are our own
 * errors (a sealed family), the classes of their fields, and those written by {@link Throwable}.
 * Any other component is a programming error in the record.
 */
final class ExpectedClasses {

  private final Map<String, Class<?>> byName = new HashMap<>();

  /**
   * @throws IllegalArgumentException if a component may have classes not listed here
   */
  ExpectedClasses(Class<?> type) {
    add(type);
  }

  private void add(Class<?> type) {
    if (type.isPrimitive() || type == String.class || byName.containsKey(type.getName())) {
      return;
    }
    if (type.isRecord() || type.isEnum()) {
      byName.put(type.getName(), type);
      if (type.isEnum()) {
        byName.put(Enum.class.getName(), Enum.class);
        return;
      }
      for (RecordComponent c : type.getRecordComponents()) {
        add(c.getType());
      }
    } else if (type.isArray()) {
      byName.put(type.getName(), type);
      add(type.getComponentType());
    } else if (SparseQrException.class.isAssignableFrom(type)) {
      addErrors();
    } else {
      throw new IllegalArgumentException(type.getName() + " cannot be expected");
    }
  }

  private void addErrors() {
    var errors = new ArrayList<Class<?>>(List.of(SparseQrException.class.getPermittedSubclasses()));
    errors.add(SparseQrException.class);
    errors.add(RemoteCause.class);
    for (Class<?> e : errors) {
      byName.put(e.getName(), e);
    }
    for (Class<?> e : errors) {
      for (var field : e.getDeclaredFields()) {
        if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0) {
          add(field.getType());
        }
      }
    }
    // Those of a throwable itself: its stack trace and a list of suppressed exceptions, empty or
    // not.
    for (Class<?> c :
        List.of(
            RuntimeException.class,
            Exception.class,
            Throwable.class,
            StackTraceElement.class,
            StackTraceElement[].class,
            ArrayList.class,
            Object[].class)) {
      byName.put(c.getName(), c);
    }
    for (String list : List.of("java.util.CollSer", "java.util.Collections$EmptyList")) {
      try {
        byName.put(list, Class.forName(list, false, null));
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException(e);
      }
    }
    byName.put("java.util.AbstractList", java.util.AbstractList.class);
  }

  Class<?> find(String name) throws IOException {
    Class<?> type = byName.get(name);
    if (type == null) {
      throw new InvalidClassException(name, "not expected here");
    }
    return type;
  }

  boolean contains(Class<?> type) {
    return byName.get(type.getName()) == type;
  }

  int count() {
    return byName.size();
  }
}
