/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.ml.RegressionOption;
import io.sparqr.spark.plan.DeclaredOption;
import io.sparqr.spark.plan.DeclaredOption.Way;
import io.sparqr.spark.plan.OptionType;
import io.sparqr.spark.plan.SolveOption;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.TypeConversionException;

/** Options of solver and regression as options of a command, made from their declarations. */
final class OptionFlags {

  /** Those of {@code sparqr solve}. */
  static final class OfSolve implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      return added(command, SolveOption.of(Way.COMMAND_LINE));
    }
  }

  /** Those of {@code sparqr regress}: the regression's first, the solver's last. */
  static final class OfRegression implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      List<OptionSpec> others = List.copyOf(command.options());
      others.forEach(command::remove);
      RegressionOption.all().stream()
          .filter(option -> option.ways().contains(Way.COMMAND_LINE))
          .forEach(option -> add(command, option));
      others.forEach(command::addOption);
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

  /** Those of {@code sparqr qr}. */
  static final class OfQr implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      return added(command, List.of(SolveOption.EXECUTORS, SolveOption.PARTITIONS));
    }
  }

  private OptionFlags() {}

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

  private static void add(CommandSpec command, DeclaredOption<?> option) {
    boolean required = option == RegressionOption.FORMULA;
    command.addOption(
        spec(option, option.word().orElseThrow())
            .required(required)
            .description(required ? option.summary().replace("`", "") : description(option))
            .build());
    for (String former : option.formerWords()) {
      command.addOption(spec(option, former).hidden(true).build());
    }
  }

  private static OptionSpec.Builder spec(DeclaredOption<?> option, String word) {
    OptionType<?> type = option.type();
    OptionSpec.Builder spec = OptionSpec.builder(word).type(type.javaClass());
    if (type.isFlag()) {
      return spec.arity("0");
    }
    if (isList(option)) {
      spec.auxiliaryTypes(String.class).arity("1");
    } else {
      spec.converters(text -> converted(type, text));
    }
    return type.words().isEmpty()
        ? spec.paramLabel(option.argument().toUpperCase(Locale.ROOT))
        : spec.paramLabel("NAME").completionCandidates(type.words());
  }

  /** Whether an option may be given several times, each time with some of its values. */
  private static boolean isList(DeclaredOption<?> option) {
    return option.type().javaClass().isArray();
  }

  private static Object converted(OptionType<?> type, String text) {
    try {
      return type.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  private static String description(DeclaredOption<?> option) {
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

  /** The options of a command that were made from a declaration and are given. */
  private static Stream<OptionSpec> specs(CommandSpec command, DeclaredOption<?> option) {
    return Stream.concat(option.word().stream(), option.formerWords().stream())
        .map(command::findOption)
        .filter(spec -> spec != null && spec.type() == option.type().javaClass())
        .filter(spec -> !spec.stringValues().isEmpty());
  }

  /** The value of an option of a command, if it was given. */
  static <T> Optional<T> given(CommandSpec command, DeclaredOption<T> option) {
    return text(command, option).map(option.type()::parse);
  }

  /** The value of an option of a command, or its default, a constant. */
  static <T> T value(CommandSpec command, DeclaredOption<T> option) {
    return given(command, option).or(option::byDefault).orElseThrow();
  }

  /** The text of the value of an option of a command, if it was given. */
  private static Optional<String> text(CommandSpec command, DeclaredOption<?> option) {
    boolean negated = option.byDefault().filter(Boolean.TRUE::equals).isPresent();
    return specs(command, option)
        .findFirst()
        .map(
            spec ->
                option.type().isFlag() ? Boolean.toString(!negated) : spec.stringValues().get(0));
  }

  /** The texts of the values of an option that may be given several times. */
  static List<String> texts(CommandSpec command, DeclaredOption<String[]> option) {
    return specs(command, option).flatMap(spec -> spec.stringValues().stream()).toList();
  }

  /** Passes on the options of the solver that were given to a command, with their values' texts. */
  static void forEach(CommandSpec command, BiConsumer<SolveOption<?>, String> sink) {
    forEach(command, SolveOption.all(), sink);
  }

  /** Passes on the options of a regression that were given to a command, but for the lists. */
  static void forEachOfRegression(
      CommandSpec command, BiConsumer<RegressionOption<?>, String> sink) {
    forEach(
        command, RegressionOption.all().stream().filter(option -> !isList(option)).toList(), sink);
  }

  private static <O extends DeclaredOption<?>> void forEach(
      CommandSpec command, List<O> options, BiConsumer<? super O, String> sink) {
    for (O option : options) {
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
    forEach(command, OptionFlags::check);
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
