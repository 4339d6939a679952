/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.plan.OptionType;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOption.Way;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.TypeConversionException;

/** The options of a solver as options of a command, made from their declarations. */
final class SolverFlags {

  /** Those of {@code sparqr solve}. */
  static final class OfSolve implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      return added(command, SolveOption.of(Way.COMMAND_LINE));
    }
  }

  /** Those of {@code sparqr regress}. */
  static final class OfRegression implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      return added(command, SolveOption.of(Way.ML));
    }
  }

  /** Those of {@code sparqr analyze}. */
  static final class OfAnalysis implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      return added(
          command, List.of(SolveOption.ORDERING, SolveOption.EXECUTORS, SolveOption.PARTITIONS));
    }
  }

  private SolverFlags() {}

  /**
   * Adds options, except those for which the command has an option of its own, and leaves the
   * standard ones last.
   */
  private static CommandSpec added(CommandSpec command, List<SolveOption<?>> options) {
    List<OptionSpec> last = Stream.of("--help", "--version").map(command::findOption).toList();
    last.forEach(command::remove);
    for (SolveOption<?> option : options) {
      if (command.findOption(option.word().orElseThrow()) == null) {
        add(command, option);
      }
    }
    last.forEach(command::addOption);
    return command;
  }

  private static void add(CommandSpec command, SolveOption<?> option) {
    command.addOption(
        spec(option, option.word().orElseThrow()).description(description(option)).build());
    for (String former : option.formerWords()) {
      command.addOption(spec(option, former).hidden(true).build());
    }
  }

  private static OptionSpec.Builder spec(SolveOption<?> option, String word) {
    OptionType<?> type = option.type();
    OptionSpec.Builder spec = OptionSpec.builder(word).type(type.javaClass());
    if (type.isFlag()) {
      return spec.arity("0");
    }
    spec.converters(text -> converted(type, text));
    if (!type.words().isEmpty()) {
      return spec.paramLabel("NAME").completionCandidates(type.words());
    }
    String call = option.calls().get(0);
    String argument = call.substring(call.indexOf('(') + 1, call.length() - 1);
    return spec.paramLabel(argument.toUpperCase(Locale.ROOT));
  }

  private static Object converted(OptionType<?> type, String text) {
    try {
      return type.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  private static String description(SolveOption<?> option) {
    String summary = option.summary().replace("`", "");
    if (option.type().isFlag()) {
      return option.byDefault().filter(Boolean.TRUE::equals).isPresent()
          ? "do not " + summary
          : summary;
    }
    String words = String.join(", ", option.type().words());
    return (words.isEmpty() ? summary : summary + ": " + words)
        + option
            .defaultValue()
            .map(value -> "; default " + value.replaceAll("\\.0$", ""))
            .orElse("; default: " + option.defaultText().replace("`", ""));
  }

  /** An option of a command that was made from a declaration; null if it was not given. */
  private static @Nullable OptionSpec spec(CommandSpec command, SolveOption<?> option) {
    return Stream.concat(option.word().stream(), option.formerWords().stream())
        .map(command::findOption)
        .filter(spec -> spec != null && spec.type() == option.type().javaClass())
        .filter(spec -> !spec.stringValues().isEmpty())
        .findFirst()
        .orElse(null);
  }

  /** The value of an option of a command, if it was given. */
  static <T> Optional<T> given(CommandSpec command, SolveOption<T> option) {
    return text(command, option).map(option.type()::parse);
  }

  /** The value of an option of a command, or its default, a constant. */
  static <T> T value(CommandSpec command, SolveOption<T> option) {
    return given(command, option).or(option::byDefault).orElseThrow();
  }

  /** The text of the value of an option of a command, if it was given. */
  private static Optional<String> text(CommandSpec command, SolveOption<?> option) {
    OptionSpec spec = spec(command, option);
    if (spec == null) {
      return Optional.empty();
    }
    boolean negated = option.byDefault().filter(Boolean.TRUE::equals).isPresent();
    return Optional.of(
        option.type().isFlag() ? Boolean.toString(!negated) : spec.stringValues().get(0));
  }

  /** Passes on the options that were given to a command: names, and texts of the values. */
  static void forEach(CommandSpec command, BiConsumer<SolveOption<?>, String> sink) {
    for (SolveOption<?> option : SolveOption.all()) {
      if (option.word().isPresent()) {
        text(command, option).ifPresent(text -> sink.accept(option, text));
      }
    }
  }

  /**
   * Rejects values out of range.
   *
   * @throws UsageException for the first one
   */
  static void check(CommandSpec command) {
    forEach(command, SolverFlags::check);
  }

  private static <T> void check(SolveOption<T> option, String text) {
    option
        .complaint(option.word().orElseThrow(), " ", option.type().parse(text))
        .ifPresent(
            wrong -> {
              throw new UsageException(wrong);
            });
  }
}
