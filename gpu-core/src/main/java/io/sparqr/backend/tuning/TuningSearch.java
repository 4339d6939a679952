/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.Tuning;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The search for a tuning that is faster than the constants, and slower on no class of fronts: one
 * axis after the other (coordinate descent), each value measured in turns with what is there. The
 * best of an axis has to win a {@link Duel}; at the end what is left has to win another against the
 * constants, on all workloads, or it is undone step by step. So noise may cost a gain, but brings
 * in no loss: a ratio by chance would have to come twice.
 *
 * <p>Deterministic: it depends on the bench and the clock alone.
 */
public final class TuningSearch {

  /** Shares of the time at whose end the tables, the pipelining and the axes are over. */
  private static final double TABLES = 0.2;

  private static final double PIPELINING = 0.3;

  private static final double AXES = 0.8;

  /** The last duel may take longer than was asked for; beyond this the constants stay. */
  private static final double PATIENCE = 1.5;

  /** Share of an axis' time for the first look at its values; the rest is left for duels. */
  private static final double LOOKING = 0.6;

  /** Turns of a first look, of a duel, and of the last one. */
  private static final int LOOKS = 3;

  private static final int TURNS = 9;

  private static final int LAST_TURNS = 13;

  private static final int[] HEIGHTS = {2, 3, 4, 5, 6, 7, 8};

  private static final int[] WIDTHS = {1, 2, 4, 8, 16, 32};

  private static final List<Workload> TABLED = List.of(Workload.TALL, Workload.SQUARE);

  private static final List<Workload> PIPELINED =
      List.of(Workload.TALL, Workload.NARROW, Workload.SQUARE, Workload.TREE);

  private final TuningBench bench;
  private final LongSupplier nanos;
  private final double seconds;
  private final long began;
  private final List<TuningOutcome.Step> steps = new ArrayList<>();

  /** For each step that was accepted the tuning before it. */
  private final List<Tuning> before = new ArrayList<>();

  /** Whether every value of every axis was looked at. */
  private boolean allLooked = true;

  /**
   * Not begun.
   *
   * @param nanos a clock, such as {@code System::nanoTime}
   * @param seconds that the search may take, about
   */
  public TuningSearch(TuningBench bench, LongSupplier nanos, double seconds) {
    this.bench = bench;
    this.nanos = nanos;
    this.seconds = seconds;
    began = nanos.getAsLong();
  }

  /** Searches. */
  public TuningOutcome run() {
    List<TuningOutcome.Table> tables = tables();
    Map<Workload, Double> pipelining = pipelining();
    Tuning found = axes();
    Optional<Duel> last = confirmed(found);
    while (last.isEmpty() && !before.isEmpty()) {
      found = undone();
      last = confirmed(found);
    }
    Map<Workload, Double> ratios = last.map(Duel::ratios).orElse(Map.of());
    boolean ended =
        allLooked
            && tables.stream()
                .flatMap(t -> Arrays.stream(t.gflops()))
                .noneMatch(row -> Arrays.stream(row).anyMatch(Double::isNaN));
    return new TuningOutcome(found, List.copyOf(steps), tables, pipelining, ratios, ended);
  }

  private double spent() {
    return 1e-9 * (nanos.getAsLong() - began) / seconds;
  }

  private List<TuningOutcome.Table> tables() {
    var tables = new ArrayList<TuningOutcome.Table>();
    for (int k = 0; k < TABLED.size(); k++) {
      tables.add(table(TABLED.get(k), TABLES * (k + 1) / TABLED.size()));
    }
    return tables;
  }

  /** The paper's figure 7. Its bundles are of one size everywhere. */
  private TuningOutcome.Table table(Workload workload, double until) {
    double[][] gflops = new double[HEIGHTS.length][WIDTHS.length];
    for (int h = 0; h < HEIGHTS.length; h++) {
      for (int w = 0; w < WIDTHS.length; w++) {
        int size = HEIGHTS[h];
        Tuning constants = Tuning.constants();
        Tuning tuning =
            constants
                .with(new TileBundles(size, size, size, size))
                .withApply(constants.applyTasks(), WIDTHS[w]);
        double[] times = new double[LOOKS];
        boolean all = true;
        for (int k = 0; all && k < LOOKS; k++) {
          all = spent() < until;
          times[k] = all ? bench.seconds(workload, tuning) : 0;
        }
        gflops[h][w] = all ? 1e-9 * bench.flops(workload) / Duel.median(times) : Double.NaN;
      }
    }
    return new TuningOutcome.Table(bench.describe(workload), HEIGHTS, WIDTHS, gflops);
  }

  private Map<Workload, Double> pipelining() {
    Tuning with = Tuning.constants();
    var ratios = new EnumMap<Workload, Double>(Workload.class);
    for (Workload w : PIPELINED) {
      duel(with, with.withPipelining(false), List.of(w), TURNS, PIPELINING)
          .ifPresent(d -> ratios.putAll(d.ratios()));
    }
    return ratios;
  }

  private Tuning axes() {
    Tuning best = Tuning.constants();
    List<TuningAxis> axes = TuningAxis.all();
    for (int k = 0; k < axes.size(); k++) {
      double share = (AXES - spent()) / (axes.size() - k);
      best = axis(axes.get(k), best, spent() + LOOKING * share);
    }
    return best;
  }

  /**
   * What is there, or the best of an axis.
   *
   * @param looked share of the time at which no more values are looked at
   */
  private Tuning axis(TuningAxis axis, Tuning there, double looked) {
    List<TuningAxis.Value> values =
        axis.values().stream().filter(v -> !v.change().apply(there).equals(there)).toList();
    List<Workload> first = axis.concerned().subList(0, 1);
    TuningAxis.Value best = null;
    double least = Double.POSITIVE_INFINITY;
    for (TuningAxis.Value v : values) {
      Optional<Duel> look = duel(v.change().apply(there), there, first, LOOKS, looked);
      allLooked &= look.isPresent();
      if (look.isPresent() && look.get().mean() < least) {
        least = look.get().mean();
        best = v;
      }
    }
    if (best == null) {
      steps.add(new TuningOutcome.Step(axis.name(), "", Double.NaN, false));
      return there;
    }
    Tuning challenger = best.change().apply(there);
    Optional<Duel> duel =
        least < 1 ? duel(challenger, there, axis.concerned(), TURNS, AXES) : Optional.empty();
    boolean won = duel.isPresent() && duel.get().won();
    double ratio = duel.map(Duel::mean).orElse(least);
    steps.add(new TuningOutcome.Step(axis.name(), best.text(), ratio, won));
    if (won) {
      before.add(there);
    }
    return won ? challenger : there;
  }

  /** The last duel with the constants, if it is won. */
  private Optional<Duel> confirmed(Tuning found) {
    if (found.equals(Tuning.constants())) {
      return Optional.empty();
    }
    return duel(
            found,
            Tuning.constants(),
            List.copyOf(EnumSet.allOf(Workload.class)),
            LAST_TURNS,
            PATIENCE)
        .filter(Duel::won);
  }

  /** Without the last step that was accepted. */
  private Tuning undone() {
    for (int k = steps.size() - 1; k >= 0; k--) {
      TuningOutcome.Step s = steps.get(k);
      if (s.accepted()) {
        steps.set(k, new TuningOutcome.Step(s.axis(), s.value(), s.ratio(), false));
        break;
      }
    }
    return before.remove(before.size() - 1);
  }

  /**
   * A duel; who begins a turn changes.
   *
   * @param until share of the time at which it is broken off
   * @return empty if it was
   */
  private Optional<Duel> duel(
      Tuning one, Tuning other, List<Workload> workloads, int turns, double until) {
    Set<Workload> set = EnumSet.copyOf(workloads);
    var ratios = new EnumMap<Workload, double[]>(Workload.class);
    set.forEach(w -> ratios.put(w, new double[turns]));
    for (Map.Entry<Workload, double[]> e : ratios.entrySet()) {
      for (int k = 0; k < turns; k++) {
        if (spent() >= until) {
          return Optional.empty();
        }
        Workload w = e.getKey();
        boolean first = k % 2 == 0;
        double a = bench.seconds(w, first ? one : other);
        double b = bench.seconds(w, first ? other : one);
        e.getValue()[k] = first ? a / b : b / a;
      }
    }
    return Optional.of(Duel.of(ratios));
  }
}
