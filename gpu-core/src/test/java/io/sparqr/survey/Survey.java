/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.backend.cuda.CudaBackendProvider;
import io.sparqr.backend.reference.HeathFactorizer;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A survey of answers at size: every figure of every problem is compared with a bound ({@link
 * Outcome}), one line for each problem. Exit code 1 if one is wrong, 2 for wrong arguments.
 *
 * <pre>
 *   Survey list [options] [NAME...]       a list of problems, the default one without names
 *   Survey sweep SECONDS SEED [options]   random problems, until time is up or one is wrong
 * </pre>
 *
 * <p>A NAME as {@link SurveyCase} has it: with an order exactly that problem, else with every seed,
 * order and kind of values; {@code default} is the default list. Options:
 *
 * <ul>
 *   <li>{@code --backend cuda|cpu|reference} (default cuda); compared with the CPU's, the CPU's
 *       with plain loops ({@link HeathFactorizer})
 *   <li>{@code --seeds S,S,...} (default 1,2,3), {@code --orders O,O,...} (nd,colamd), {@code
 *       --values V,V} (true,rand; true values of combinatorial problems, gradients and files have
 *       no seed and are run once)
 *   <li>{@code --only REGEX} what is run of the list; {@code --seconds S} no problem begins later
 *   <li>{@code --cpu-limit GFLOP} larger ones are not compared (list 300, sweep 20)
 *   <li>of the sweep: {@code --large GFLOP} (100), half of the problems are between this and {@code
 *       --most GFLOP} (3000), the others below; {@code --problems N} at most
 * </ul>
 */
public final class Survey {

  /** The published problems at full size, larger ones of their kinds, dense fronts. */
  static final List<String> DEFAULT =
      List.of(
          "ch7-8-b3",
          "nug20",
          "nug15",
          "cells3d40",
          "cells2d500",
          "onehot1000000x5000x500x50",
          "onehot3000000x8000x700x60",
          "onehot5000000x10000x1000x100",
          "nug22",
          "ch7-9-b3",
          "grad3d80",
          "dense:4096x4096",
          "dense:100000x192",
          "dense:32768x4096",
          "grad3d112");

  private final PrintStream out;
  private final long began = System.nanoTime();
  private final Map<String, String> option = new LinkedHashMap<>();
  private final List<String> names = new ArrayList<>();

  /** Reads the options. */
  private Survey(List<String> arguments, PrintStream out) {
    this.out = out;
    var known =
        List.of(
            "--backend",
            "--seeds",
            "--orders",
            "--values",
            "--only",
            "--seconds",
            "--cpu-limit",
            "--large",
            "--most",
            "--problems");
    for (int k = 0; k < arguments.size(); k++) {
      String a = arguments.get(k);
      if (!a.startsWith("--")) {
        names.add(a);
      } else if (known.contains(a) && k + 1 < arguments.size()) {
        option.put(a, arguments.get(++k));
      } else {
        throw new IllegalArgumentException("no option " + a + ", or no value for it");
      }
    }
  }

  /** See the class. */
  public static void main(String[] arguments) {
    int code;
    try {
      code = run(List.of(arguments), System.out);
    } catch (IllegalArgumentException e) {
      System.err.println("survey: " + e.getMessage());
      code = 2;
    }
    System.exit(code);
  }

  /** Runs with a backend by its name. */
  static int run(List<String> arguments, PrintStream out) {
    var survey = new Survey(arguments, out);
    String name = survey.option.getOrDefault("--backend", "cuda");
    SubtreeFactorizer backend = create(name);
    SubtreeFactorizer host = new CpuBackendProvider().create(0);
    SubtreeFactorizer other = name.equals("cpu") ? new HeathFactorizer() : host;
    if (other == host) {
      other = new CheckedFactorizer(host, new CpuBackendProvider().create(0));
      host = new CpuBackendProvider().create(0);
    }
    double most = survey.number("--cpu-limit", survey.isSweep() ? 20 : 300);
    try (var runner = new CaseRunner(new CheckedFactorizer(backend, host), other, 1e9 * most)) {
      return survey.run(runner);
    }
  }

  /** Runs with a runner at hand, which stays open. */
  static int run(List<String> arguments, PrintStream out, CaseRunner runner) {
    return new Survey(arguments, out).run(runner);
  }

  private static SubtreeFactorizer create(String backend) {
    return switch (backend) {
      case "cuda" -> new CudaBackendProvider().create(0);
      case "cpu" -> new CpuBackendProvider().create(0);
      case "reference" -> new ReferenceSubtreeFactorizer();
      default -> throw new IllegalArgumentException("no backend " + backend);
    };
  }

  private boolean isSweep() {
    return !names.isEmpty() && names.get(0).equals("sweep");
  }

  private int run(CaseRunner runner) {
    String mode = names.isEmpty() ? "" : names.get(0);
    out.println(runner.description());
    if (mode.equals("list")) {
      return list(runner);
    }
    if (!mode.equals("sweep") || names.size() != 3) {
      throw new IllegalArgumentException("list [NAME...] or sweep SECONDS SEED");
    }
    option.putIfAbsent("--seconds", names.get(1));
    var sweep =
        new Sweep(
            runner, number("--large", 100), number("--most", 3000), Long.parseLong(names.get(2)));
    Tally tally = new Tally();
    for (int k = 0; k < number("--problems", Integer.MAX_VALUE) && inTime(); k++) {
      SurveyCase c = sweep.draw(k, this::inTime);
      if (c == null) {
        break;
      }
      if (!report(runner, c, tally, new HashMap<>()).isWrong()) {
        continue;
      }
      out.println("repeat: survey.sh list '" + c + "'" + repeatOptions());
      break;
    }
    out.println(tally);
    return tally.exitCode();
  }

  private String repeatOptions() {
    String backend = option.get("--backend");
    return (backend == null ? "" : " --backend " + backend)
        + " --cpu-limit "
        + option.getOrDefault("--cpu-limit", "20");
  }

  private int list(CaseRunner runner) {
    List<SurveyCase> cases = cases();
    Tally tally = new Tally();
    var inOtherOrder = new HashMap<String, Outcome>();
    String name = "";
    int next = 0;
    for (; next < cases.size() && inTime(); next++) {
      SurveyCase c = cases.get(next);
      if (!name.equals(c.name())) {
        inOtherOrder.clear();
        name = c.name();
      }
      report(runner, c, tally, inOtherOrder);
    }
    for (SurveyCase c : cases.subList(next, cases.size())) {
      out.println(c + " | not run: no time left");
    }
    out.println(
        tally
            + (next < cases.size() ? ", time is up: %d not run" : "")
                .formatted(cases.size() - next));
    return tally.exitCode();
  }

  /** Runs one, prints its line at once. */
  private Outcome report(
      CaseRunner runner, SurveyCase c, Tally tally, Map<String, Outcome> inOtherOrder) {
    Outcome outcome;
    try {
      outcome = runner.run(c);
    } catch (MatrixFormatException | IndexOverflowException e) {
      // A clear error is not a wrong answer, but it is printed.
      outcome = Outcome.notRun(c, "refused: " + e.getMessage());
    } catch (RuntimeException | OutOfMemoryError e) {
      outcome = Outcome.failed(c, e);
    }
    Outcome before = inOtherOrder.putIfAbsent(c.problem(), outcome);
    if (before != null) {
      outcome.compareRank(before);
    }
    tally.add(outcome);
    out.println(outcome);
    out.flush();
    return outcome;
  }

  /**
   * Order within a name: all seeds of one order share an analysis where the pattern is the same.
   */
  private List<SurveyCase> cases() {
    var all = new ArrayList<String>();
    for (String n : names.subList(1, names.size())) {
      all.addAll(n.equals("default") ? DEFAULT : List.of(n));
    }
    var cases = new ArrayList<SurveyCase>();
    for (String n : all.isEmpty() ? DEFAULT : all) {
      if (n.contains("@")) {
        cases.add(SurveyCase.parse(n));
        continue;
      }
      for (String order :
          n.startsWith("dense:") ? List.of("natural") : words("--orders", "nd,colamd")) {
        for (String variant : variants(n)) {
          cases.add(SurveyCase.parse(n + variant + "@" + order));
        }
      }
    }
    Pattern only = Pattern.compile(option.getOrDefault("--only", ""));
    cases.removeIf(c -> !only.matcher(c.toString()).find());
    return cases;
  }

  /** Values and seeds of a name. */
  private List<String> variants(String n) {
    var list = new ArrayList<String>();
    List<String> seeds = n.contains(":seed=") ? List.of("") : words("--seeds", "1,2,3");
    boolean given = n.matches("(ch|nug|grad3d)\\d.*|.*\\.(mtx|svm)(\\.gz)?(:.*)?");
    boolean random =
        n.contains(":rand") || n.matches("(cells|dense:|blocks:|stairs:|band:|sparse:).*");
    for (String values : random ? List.of("true") : words("--values", "true,rand")) {
      if (!List.of("true", "rand").contains(values)) {
        throw new IllegalArgumentException("no values " + values);
      }
      boolean one = given && !random && values.equals("true");
      for (String s : one ? seeds.subList(0, 1) : seeds) {
        list.add((values.equals("rand") ? ":rand" : "") + (s.isEmpty() ? "" : ":seed=" + s));
      }
    }
    return list;
  }

  private List<String> words(String name, String otherwise) {
    return Arrays.asList(option.getOrDefault(name, otherwise).split(","));
  }

  private double number(String name, double otherwise) {
    return Double.parseDouble(option.getOrDefault(name, "" + otherwise));
  }

  private boolean inTime() {
    return (System.nanoTime() - began) * 1e-9 < number("--seconds", Double.POSITIVE_INFINITY);
  }
}
