/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * An option that is declared once: its names, type, range, default and meaning. Everything that
 * takes options reads them from here.
 *
 * @param <T> the boxed class of its values
 */
public abstract class DeclaredOption<T> {

  /** Where an option can be given, besides programs in Java. */
  public enum Way {
    /** {@code sparqr solve}; for the options of a regression {@code sparqr regress}. */
    COMMAND_LINE,
    /**
     * {@code sparqr.solve} and its relatives in Python, also over Spark Connect; for the options of
     * a regression {@code sparqr.feols}.
     */
    PYTHON,
    /**
     * The params of {@code SparseQRRegression}, in Java and in Python; {@code sparqr regress} has
     * those options of the solver that are params.
     */
    ML
  }

  private final String name;
  private final String argument;
  private final OptionType<T> type;
  private final Set<Way> ways;
  private final Optional<String> word;
  private final List<String> formerWords;
  private final Optional<String> keyword;
  private final List<String> formerKeywords;
  private final Optional<T> byDefault;
  private final String defaultText;
  private final String summary;
  private final String detail;

  /** The option of a declaration. */
  protected DeclaredOption(OptionDeclaration<T> d) {
    name = d.name();
    argument = d.argument();
    type = d.type;
    ways = Set.copyOf(d.ways);
    word = d.word();
    formerWords = d.formerWords;
    keyword = d.keyword();
    formerKeywords = d.formerKeywords;
    byDefault = Optional.ofNullable(d.value);
    defaultText = d.defaultText;
    summary = d.summary;
    detail = d.detail;
  }

  /** A name with something before each capital, in small letters. */
  static String apart(String name, String between) {
    return name.replaceAll("(?=[A-Z])", between).toLowerCase(Locale.ROOT);
  }

  /** The name: of the builder's method, of Spark ML's param, of an option over Spark Connect. */
  public String name() {
    return name;
  }

  /** What a help text calls its value. */
  public String argument() {
    return argument;
  }

  /** The keyword in Python, if it has one. */
  public Optional<String> keyword() {
    return keyword;
  }

  /** Earlier keywords in Python, which are accepted until 1.0. */
  public List<String> formerKeywords() {
    return formerKeywords;
  }

  /**
   * The option of the command line, if it has one. That of a flag which is on by default turns it
   * off, and begins with {@code --no-}.
   */
  public Optional<String> word() {
    return word;
  }

  /** Earlier options of the command line, which are accepted until 1.0. */
  public List<String> formerWords() {
    return formerWords;
  }

  /** Where it can be given, besides programs in Java. */
  public Set<Way> ways() {
    return ways;
  }

  /** Its values. */
  public OptionType<T> type() {
    return type;
  }

  /** The value unless it is given; empty where that is no constant. */
  public Optional<T> byDefault() {
    return byDefault;
  }

  /**
   * The value unless it is given.
   *
   * @throws java.util.NoSuchElementException where that is no constant
   */
  T constant() {
    return byDefault.orElseThrow();
  }

  /** What holds unless it is given, in words: a constant, or where the value comes from. */
  public String defaultText() {
    return defaultText;
  }

  /** The meaning in one phrase, names of the report and of methods between backticks. */
  public String summary() {
    return summary;
  }

  /** What the documentation's table adds to the summary, in Markdown. */
  public String detail() {
    return detail;
  }

  /**
   * The value of a text, checked.
   *
   * @throws IllegalArgumentException if the text is not of this type, or the value out of range
   */
  public T parse(String text) {
    T value;
    try {
      value = type.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name() + ": " + e.getMessage(), e);
    }
    return require(value);
  }

  /**
   * The value of a text as a param of Spark ML has it: a word stays text.
   *
   * @throws IllegalArgumentException if the text is not of this type, or the value out of range
   */
  public Object param(String text) {
    T value = parse(text);
    return type.words().isEmpty() ? value : type.text(value);
  }

  /** The text of the default, where that is a constant. */
  public Optional<String> defaultValue() {
    return byDefault.map(type::text);
  }

  /**
   * A value in range, as it is.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  public T require(T value) {
    Optional<String> wrong = complaint(name(), " = ", value);
    if (wrong.isPresent()) {
      throw new IllegalArgumentException(wrong.get());
    }
    return value;
  }

  /**
   * What is wrong with a value, if anything.
   *
   * @param given the option under the name by which it was given
   * @param between what stands between this name and a value
   */
  public Optional<String> complaint(String given, String between, T value) {
    return type.accepts(value)
        ? Optional.empty()
        : Optional.of(given + type.complaint(between, value));
  }

  @Override
  public final String toString() {
    return name();
  }
}
