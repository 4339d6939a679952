/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A setting: its name, the parser of its text, its default and its meaning. Text that cannot be
 * parsed is an error that names the key; the default never stands in for it.
 *
 * @param <T> the type of the value
 */
public final class Key<T> {

  /** Where a setting is looked up. */
  public enum Scope {
    /** The Spark configuration, on the driver. */
    SPARK,
    /** System properties of the computing JVM ({@code spark.executor.extraJavaOptions}). */
    JVM
  }

  private final String name;
  private final Scope scope;
  private final Function<String, T> reader;
  private final String form;

  /** Null: the default is not a value but what the text says. */
  private final @Nullable T otherwise;

  private final String otherwiseText;
  private final String meaning;

  private Key(
      String name,
      Scope scope,
      Function<String, T> reader,
      String form,
      @Nullable T otherwise,
      String otherwiseText,
      String meaning) {
    this.name = name;
    this.scope = scope;
    this.reader = reader;
    this.form = form;
    this.otherwise = otherwise;
    this.otherwiseText = otherwiseText;
    this.meaning = meaning;
  }

  /** A finite number above a bound, or equal to it. */
  static Key<Double> number(
      String name,
      Scope scope,
      double least,
      @Nullable Double otherwise,
      String text,
      String meaning) {
    Function<String, Double> reader =
        s -> {
          double x = Double.parseDouble(s);
          if (!(x >= least) || Double.isInfinite(x)) {
            throw new NumberFormatException(s);
          }
          return x;
        };
    return new Key<>(
        name,
        scope,
        reader,
        least == 0 ? "a number, not negative" : "a positive number",
        otherwise,
        text,
        meaning);
  }

  /** A positive number. */
  static Key<Double> positive(
      String name, Scope scope, @Nullable Double otherwise, String text, String meaning) {
    return number(name, scope, Double.MIN_VALUE, otherwise, text, meaning);
  }

  /** A whole number in a range. */
  static Key<Long> count(
      String name,
      Scope scope,
      long least,
      long most,
      @Nullable Long otherwise,
      String text,
      String what) {
    Function<String, Long> reader =
        s -> {
          long n = Long.parseLong(s.trim());
          if (n < least || n > most) {
            throw new NumberFormatException(s);
          }
          return n;
        };
    String form = "a whole number from " + least + (most == Long.MAX_VALUE ? " on" : " to " + most);
    return new Key<>(name, scope, reader, form, otherwise, text, what);
  }

  /** True or false. */
  static Key<Boolean> flag(String name, Scope scope, boolean otherwise, String meaning) {
    return flag(name, scope, otherwise, Boolean.toString(otherwise), meaning);
  }

  /** A key whose default is described in words. */
  static Key<Boolean> flag(
      String name, Scope scope, @Nullable Boolean otherwise, String text, String meaning) {
    Function<String, Boolean> reader =
        s -> {
          if (!"true".equalsIgnoreCase(s) && !"false".equalsIgnoreCase(s)) {
            throw new IllegalArgumentException(s);
          }
          return Boolean.valueOf(s);
        };
    return new Key<>(name, scope, reader, "true or false", otherwise, text, meaning);
  }

  /** Any text. */
  static Key<String> text(String name, Scope scope, String otherwise, String meaning) {
    return new Key<>(name, scope, s -> s, "a text", null, otherwise, meaning);
  }

  /** Its name. */
  public String name() {
    return name;
  }

  /** Where it is looked up. */
  public Scope scope() {
    return scope;
  }

  /** The default, in words. */
  public String otherwise() {
    return otherwiseText;
  }

  /** What it means. */
  public String meaning() {
    return meaning;
  }

  /**
   * The value in some settings.
   *
   * @param settings text by name; null where there is none
   * @throws IllegalArgumentException if the text cannot be parsed; names the key and what is
   *     expected
   */
  public Optional<T> find(UnaryOperator<String> settings) {
    String text = settings.apply(name);
    if (text == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(reader.apply(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + " = " + text + ": " + form + " is expected", e);
    }
  }

  /** The value in some settings, or the default, which must exist. */
  public T in(UnaryOperator<String> settings) {
    return find(settings).orElseGet(() -> Objects.requireNonNull(otherwise, name));
  }

  /** The system property's value, or the default, which must exist. */
  public T ofJvm() {
    return in(System::getProperty);
  }
}
