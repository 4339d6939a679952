/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.util.List;
import java.util.function.DoublePredicate;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The values of an option: their Java class, how they are written as text, and their range.
 *
 * @param <T> the boxed class of a value
 */
public final class OptionType<T> {

  private final Class<T> javaClass;
  private final Function<String, T> parser;
  private final Function<T, String> writer;
  private final List<String> words;
  private final Predicate<T> accepts;
  private final String range;
  private final boolean text;

  private OptionType(
      Class<T> javaClass,
      Function<String, T> parser,
      Function<T, String> writer,
      List<String> words,
      Predicate<T> accepts,
      String range,
      boolean text) {
    this.javaClass = javaClass;
    this.parser = parser;
    this.writer = writer;
    this.words = words;
    this.accepts = accepts;
    this.range = range;
    this.text = text;
  }

  /** True or false. */
  public static OptionType<Boolean> flag() {
    return new OptionType<>(
        Boolean.class, OptionType::truth, String::valueOf, List.of(), b -> true, "", true);
  }

  /** A number of things, from 0. */
  static OptionType<Integer> count() {
    return new OptionType<>(
        Integer.class,
        text -> number(text, Integer::valueOf, "whole number"),
        String::valueOf,
        List.of(),
        k -> k >= 0,
        "cannot be negative",
        true);
  }

  /** A number of bytes, from 0. */
  static OptionType<Long> bytes() {
    return new OptionType<>(
        Long.class,
        text -> number(text, Long::valueOf, "whole number"),
        String::valueOf,
        List.of(),
        k -> k >= 0,
        "cannot be negative",
        true);
  }

  /**
   * A real number, never NaN.
   *
   * @param range what a message says of a number out of range, or of NaN; empty if only NaN is
   */
  public static OptionType<Double> real(DoublePredicate accepts, String range) {
    return new OptionType<>(
        Double.class,
        text -> number(text, Double::valueOf, "number"),
        String::valueOf,
        List.of(),
        x -> !x.isNaN() && accepts.test(x),
        range,
        true);
  }

  /** One of a table of words. */
  static <E extends Enum<E>> OptionType<E> word(Words<E> table, Class<E> javaClass) {
    return new OptionType<>(javaClass, table::of, table::word, table.all(), e -> true, "", true);
  }

  /** One of these words, in capitals and small letters as they are here. */
  public static OptionType<String> word(List<String> words) {
    List<String> all = List.copyOf(words);
    return new OptionType<>(
        String.class,
        text -> known(all, text),
        word -> word,
        all,
        all::contains,
        "one of " + String.join(", ", all),
        true);
  }

  /** Any text, such as the name of a column. */
  public static OptionType<String> text() {
    return new OptionType<>(
        String.class, text -> text, text -> text, List.of(), t -> true, "", true);
  }

  /** Several texts, in an array as Spark ML's params have them; one text alone is one of them. */
  public static OptionType<String[]> texts() {
    return new OptionType<>(
        String[].class,
        text -> new String[] {text},
        texts -> String.join(",", texts),
        List.of(),
        t -> true,
        "",
        true);
  }

  /** Objects of Java, which no text stands for. */
  static <T> OptionType<T> object(Class<T> javaClass, Predicate<T> accepts, String range) {
    return new OptionType<>(
        javaClass,
        text -> {
          throw new IllegalArgumentException("'" + text + "': only Java can give this option");
        },
        String::valueOf,
        List.of(),
        accepts,
        range,
        false);
  }

  private static String known(List<String> words, String text) {
    if (!words.contains(text)) {
      throw new IllegalArgumentException("'" + text + "' is none of " + String.join(", ", words));
    }
    return text;
  }

  private static Boolean truth(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("'" + text + "' is neither true nor false");
    };
  }

  private static <T> T number(String text, Function<String, T> parser, String what) {
    try {
      return parser.apply(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' is no " + what, e);
    }
  }

  /** The class of a value. */
  public Class<T> javaClass() {
    return javaClass;
  }

  /** The words that stand for values, in the order of their table; of other types none. */
  public List<String> words() {
    return words;
  }

  /** Whether a text can stand for a value; otherwise only programs in Java give the option. */
  public boolean isText() {
    return text;
  }

  /** Whether values are true and false. */
  public boolean isFlag() {
    return javaClass == Boolean.class;
  }

  /**
   * The value of a text, whatever its range.
   *
   * @throws IllegalArgumentException if the text is not of this type
   */
  public T parse(String text) {
    return parser.apply(text);
  }

  /** The text of a value. */
  public String text(T value) {
    return writer.apply(value);
  }

  /** Whether a value is in range. */
  public boolean accepts(T value) {
    return accepts.test(value);
  }

  /** What a message says of a value out of range, after the option's name. */
  String complaint(String between, T value) {
    return range.isEmpty() ? " is NaN" : between + value + ": " + range;
  }
}
