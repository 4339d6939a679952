/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.ordering.OrderingMethod;
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

  /** Names of components whose options have other ones. */
  private static final Map<String, String> NAMES =
      Map.of("by", "dropLater", "workers", "executors", "known", "analysis");

  private GivenOptions() {}

  /**
   * By the names of the options, in order, words as {@link SolveOption} declares them; without the
   * number of columns, which a report has anyway and callers set by themselves.
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
        String name = NAMES.getOrDefault(c.getName(), c.getName());
        given.put(name, mine instanceof Enum<?> e ? word(name, e) : text(mine));
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

  private static String word(String name, Enum<?> value) {
    if (value == OrderingMethod.GIVEN) {
      // No option has it as its value: it comes with the order.
      return "given";
    }
    return SolveOption.all().stream()
        .filter(o -> o.name().equals(name))
        .findFirst()
        .map(o -> word(o.type(), value))
        .orElse(value.name().toLowerCase(Locale.ROOT));
  }

  private static <T> String word(OptionType<T> type, Enum<?> value) {
    return type.text(type.javaClass().cast(value));
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
    String text = value instanceof int[] list ? Arrays.toString(list) : String.valueOf(value);
    return text.length() > LONGEST ? text.substring(0, LONGEST) + "..." : text;
  }
}
