/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The options of a solve that are not at their defaults, for reports. */
public final class GivenOptions {

  /** Longer values, such as lists of columns, are cut. */
  private static final int LONGEST = 60;

  private GivenOptions() {}

  /**
   * By the names of their components, which are those of the options, in order; without the number
   * of columns, which a report has anyway and callers set by themselves.
   */
  public static Map<String, String> of(SolveOptions options) {
    var given = new LinkedHashMap<String, String>();
    compare(options, SolveOptions.defaults(), given);
    given.remove("columns");
    return given;
  }

  private static void compare(Record now, Record before, Map<String, String> given) {
    for (RecordComponent c : now.getClass().getRecordComponents()) {
      Object mine = value(now, c);
      Object its = value(before, c);
      if (mine instanceof Record some
          && its instanceof Record other
          && mine.getClass() == its.getClass()) {
        compare(some, other, given);
      } else if (!Objects.deepEquals(mine, its)) {
        given.put(c.getName(), text(mine));
      }
    }
  }

  private static Object value(Record of, RecordComponent c) {
    try {
      return c.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("options that cannot be read: " + c.getName(), e);
    }
  }

  private static String text(Object value) {
    if (value instanceof OptionalInt i) {
      return i.isPresent() ? Integer.toString(i.getAsInt()) : "default";
    }
    if (value instanceof OptionalLong i) {
      return i.isPresent() ? Long.toString(i.getAsLong()) : "default";
    }
    if (value instanceof OptionalDouble x) {
      return x.isPresent() ? Double.toString(x.getAsDouble()) : "default";
    }
    if (value instanceof Optional<?> o) {
      return o.isPresent() ? "given" : "none";
    }
    String text =
        value instanceof Enum<?> e
            ? e.name().toLowerCase(Locale.ROOT)
            : value instanceof int[] list ? Arrays.toString(list) : String.valueOf(value);
    return text.length() > LONGEST ? text.substring(0, LONGEST) + "..." : text;
  }
}
