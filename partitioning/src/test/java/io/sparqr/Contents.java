/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Compares objects with large arrays to the bit. AssertJ's recursive comparison looks at each entry
 * of an array by reflection, which takes seconds where this takes milliseconds; it has the rest.
 */
public final class Contents {

  private Contents() {}

  /**
   * Fails unless two objects are of one class and equal: arrays as such, objects of our classes
   * field by field except transient ones, lists one by one, everything else by AssertJ.
   *
   * @param ignored names of fields that may differ
   */
  public static void requireSame(Object actual, Object expected, String what, String... ignored) {
    require(actual, expected, what, Set.of(ignored));
  }

  private static void require(Object actual, Object expected, String what, Set<String> ignored) {
    if (Objects.deepEquals(actual, expected)) {
      return;
    }
    assertThat(actual).as(what).isNotNull().hasSameClassAs(expected);
    if (actual instanceof List<?> some && expected instanceof List<?> others) {
      assertThat(some).as(what).hasSameSizeAs(others);
      for (int i = 0; i < some.size(); i++) {
        require(some.get(i), others.get(i), what + "[" + i + "]", ignored);
      }
    } else if (actual instanceof Object[] some && expected instanceof Object[] others) {
      require(Arrays.asList(some), Arrays.asList(others), what, ignored);
    } else if (actual.getClass().getName().startsWith("io.sparqr.") && !(actual instanceof Enum)) {
      for (Field f : actual.getClass().getDeclaredFields()) {
        if ((f.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0
            && !ignored.contains(f.getName())) {
          require(of(f, actual), of(f, expected), what + "." + f.getName(), ignored);
        }
      }
    } else {
      assertThat(actual).as(what).usingRecursiveComparison().isEqualTo(expected);
    }
  }

  private static Object of(Field field, Object object) {
    try {
      field.setAccessible(true);
      return field.get(object);
    } catch (IllegalAccessException e) {
      throw new AssertionError(field.toString(), e);
    }
  }
}
