/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.spark.plan.DeclaredOption.Way;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An option on the way to be declared.
 *
 * @param <T> the boxed class of its values
 */
public final class OptionDeclaration<T> {
  private final String calls;
  final OptionType<T> type;
  final String summary;
  final Set<Way> ways = EnumSet.noneOf(Way.class);
  private String stem;
  private String spelled = "";
  List<String> formerWords = List.of();
  List<String> formerKeywords = List.of();
  @Nullable T value;
  String defaultText = "";
  String detail = "";

  /**
   * A declaration.
   *
   * @param calls the builder's methods, each with a word for its argument; the first gives the
   *     option's name
   * @param summary one phrase in plain text for all ways, of a flag what it does; names of the
   *     report and of methods between backticks
   */
  public OptionDeclaration(String calls, OptionType<T> type, String summary) {
    this.calls = calls;
    this.type = type;
    this.summary = summary;
    this.stem = name();
  }

  /** The value unless given. */
  public OptionDeclaration<T> byDefault(T constant) {
    value = constant;
    return shown(constant.toString().replaceAll("\\.0$", ""));
  }

  /** What holds unless it is given, where that is no constant. */
  public OptionDeclaration<T> otherwise(String words) {
    return shown(words);
  }

  /** The default as the table has it. */
  OptionDeclaration<T> shown(String text) {
    defaultText = text;
    return this;
  }

  /** Where it can be given, besides programs in Java. */
  public OptionDeclaration<T> in(Way... some) {
    ways.addAll(List.of(some));
    return this;
  }

  /** On the command line and in Python, and in those named. */
  public OptionDeclaration<T> everywhere(Way... more) {
    return in(Way.COMMAND_LINE, Way.PYTHON).in(more);
  }

  /** The name that the command line's word and Python's keyword follow, where it is another. */
  public OptionDeclaration<T> called(String other) {
    stem = other;
    return this;
  }

  /** The word of the command line, where it does not follow from the name. */
  OptionDeclaration<T> spelled(String other) {
    spelled = other;
    return this;
  }

  /** Earlier words of the command line, accepted until 1.0. */
  public OptionDeclaration<T> formerly(String... words) {
    formerWords = List.of(words);
    return this;
  }

  /** Earlier keywords of Python, accepted until 1.0. */
  public OptionDeclaration<T> formerlyInPython(String... keywords) {
    formerKeywords = List.of(keywords);
    return this;
  }

  /** What the documentation's table adds to the summary, in Markdown. */
  public OptionDeclaration<T> detail(String more) {
    detail = more;
    return this;
  }

  /** Ends the declaration. */
  <R> R made(Function<OptionDeclaration<T>, R> constructor) {
    return constructor.apply(this);
  }

  /** The name of the builder's first method. */
  String name() {
    return calls.substring(0, calls.indexOf('('));
  }

  /** What the first method's argument is called. */
  String argument() {
    return calls.substring(calls.indexOf('(') + 1, calls.indexOf(')'));
  }

  List<String> calls() {
    return List.of(calls.split(", "));
  }

  Optional<String> word() {
    if (!ways.contains(Way.COMMAND_LINE)) {
      return Optional.empty();
    }
    String no = Boolean.TRUE.equals(value) ? "no-" : "";
    return Optional.of(spelled.isEmpty() ? "--" + no + DeclaredOption.apart(stem, "-") : spelled);
  }

  Optional<String> keyword() {
    return ways.contains(Way.PYTHON)
        ? Optional.of(DeclaredOption.apart(stem, "_"))
        : Optional.empty();
  }
}
