/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.spark.plan.SolveOption.Way;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** An option on the way to be declared; {@link #kept} ends it. */
final class OptionDeclaration<T> {
  final String calls;
  final OptionType<T> type;
  final String summary;
  final Set<Way> ways = EnumSet.noneOf(Way.class);
  private String spelled = "";
  List<String> formerWords = List.of();
  @Nullable T value;
  String defaultText = "";
  String detail = "";

  /**
   * A declaration.
   *
   * @param calls the builder's methods, each with a letter for its argument; the first gives the
   *     option's name
   * @param summary one phrase in plain text for all ways, of a flag what it does; names of the
   *     report and of methods between backticks
   */
  OptionDeclaration(String calls, OptionType<T> type, String summary) {
    this.calls = calls;
    this.type = type;
    this.summary = summary;
  }

  /** The value unless given. */
  OptionDeclaration<T> byDefault(T constant) {
    value = constant;
    return shown(constant.toString().replaceAll("\\.0$", ""));
  }

  /** What holds unless it is given, where that is no constant. */
  OptionDeclaration<T> otherwise(String words) {
    return shown(words);
  }

  /** The default as the table has it. */
  OptionDeclaration<T> shown(String text) {
    defaultText = text;
    return this;
  }

  OptionDeclaration<T> in(Way... some) {
    ways.addAll(List.of(some));
    return this;
  }

  /** On the command line and in Python, and in those named. */
  OptionDeclaration<T> everywhere(Way... more) {
    return in(Way.COMMAND_LINE, Way.PYTHON).in(more);
  }

  /** The word of the command line, where it does not follow from the name. */
  OptionDeclaration<T> spelled(String other) {
    spelled = other;
    return this;
  }

  /** Earlier words of the command line, accepted until 1.0. */
  OptionDeclaration<T> formerly(String... words) {
    formerWords = List.of(words);
    return this;
  }

  /** What the documentation's table adds to the summary, in Markdown. */
  OptionDeclaration<T> detail(String more) {
    detail = more;
    return this;
  }

  /** Ends the declaration: how a value gets into the options. */
  SolveOption<T> kept(BiFunction<SolveOptions, T, SolveOptions> keeper) {
    Optional<String> word =
        !ways.contains(Way.COMMAND_LINE)
            ? Optional.empty()
            : Optional.of(
                spelled.isEmpty()
                    ? (Boolean.TRUE.equals(value) ? "--no-" : "--") + SolveOption.apart(name(), "-")
                    : spelled);
    return new SolveOption<>(this, word, keeper);
  }

  /** The name of the builder's first method. */
  String name() {
    return calls.substring(0, calls.indexOf('('));
  }
}
