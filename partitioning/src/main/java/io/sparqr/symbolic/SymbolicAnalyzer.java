/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.ordering.choice.Orderings;
import io.sparqr.sparse.CompactLongs;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Pattern in, {@link SymbolicAnalysis} out: column singletons, column order of the rest, column
 * elimination tree, postorder, counts, supernodes, fronts.
 *
 * <p>The structure is that of the Cholesky factor of A'A (George and Heath 1980): an upper bound of
 * R's structure, and equal to it for a matrix with the strong Hall property. Columns without an
 * entry (after the singletons) are the pivots of one last front without rows.
 */
public final class SymbolicAnalyzer {

  private SymbolicAnalyzer() {}

  /**
   * Analyzes a pattern. Near-linear in its entries and the fronts' column lists, plus the ordering.
   *
   * @throws IllegalArgumentException if the pattern's indices are out of order or range
   * @throws DimensionMismatchException if a given order's size is not the pattern's number of
   *     columns
   * @throws io.sparqr.error.IndexOverflowException if the column lists exceed an array
   */
  public static SymbolicAnalysis analyze(SparsityPattern pattern, SymbolicOptions options) {
    return analyze(pattern, options, new PhaseTimes());
  }

  static SymbolicAnalysis analyze(SparsityPattern pattern, SymbolicOptions options, PhaseTimes t) {
    long begin = System.nanoTime();
    pattern.validate();
    for (int j : options.notSingletons()) {
      java.util.Objects.checkIndex(j, pattern.columns());
    }
    t.end("validate");
    var fingerprint = CompletableFuture.supplyAsync(pattern::fingerprint);
    ColumnSingletons singletons = ColumnSingletons.find(pattern, options);
    Remainder rest = Remainder.of(pattern, singletons);
    t.end("singletons");
    long orderBegin = System.nanoTime();
    PlanCache plans = new PlanCache(options);
    Orderings.Result chosen = order(rest, pattern.columns(), options, plans);
    double orderSeconds = (System.nanoTime() - orderBegin) * 1e-9;
    t.end("order");
    AnalysisPlan plan = plans.take(rest.pattern(), chosen.order(), t);
    var known =
        new SymbolicAnalysis.Input(
            fingerprint.join(), pattern.rows(), rest.emptyRows(), pattern.nonzeros());
    SymbolicAnalysis.Data data =
        ReductionFronts.insert(
            assemble(known, singletons, rest, chosen, plan), options.reduction());
    t.end("result");
    double analyzeSeconds = (System.nanoTime() - begin) * 1e-9 - orderSeconds;
    return new SymbolicAnalysis(
        data.withSeconds(new SymbolicAnalysis.Seconds(orderSeconds, analyzeSeconds)));
  }

  /**
   * Analyzes a matrix by its graph of A'A, without column singletons and under one order. AUTO,
   * BEST and COLAMD become minimum degree, since they need the rows. Under the same order the
   * result is that of the rows with singletons off.
   *
   * @throws IllegalArgumentException if the graph's indices are out of order or range
   * @throws DimensionMismatchException if a given order's size is not the matrix's number of
   *     columns
   * @throws io.sparqr.error.IndexOverflowException if the column lists exceed an array
   */
  public static SymbolicAnalysis analyze(RowGraph a, SymbolicOptions options) {
    long begin = System.nanoTime();
    SparsityPattern graph = a.graph();
    graph.validate();
    int n = graph.columns();
    ColumnSingletons none = ColumnSingletons.find(graph, options.withSingletons(false));
    Remainder rest = Remainder.of(graph, none);
    long orderBegin = System.nanoTime();
    SymbolicOptions byGraph = ofGraph(options);
    Orderings.Result chosen = order(rest, n, byGraph, new PlanCache(byGraph));
    String reason = "on the graph of A'A, without column singletons: " + chosen.reason();
    chosen = new Orderings.Result(chosen.order(), chosen.method(), reason);
    double orderSeconds = (System.nanoTime() - orderBegin) * 1e-9;
    int n2 = rest.pattern().columns();
    int[] order = new int[n];
    for (int k = 0; k < n2; k++) {
      order[k] = rest.originalColumn()[chosen.order().original(k)];
    }
    System.arraycopy(rest.emptyColumns(), 0, order, n2, n - n2);
    long[] counts = Arrays.copyOf(a.leftmost().apply(new Permutation(order)), n2);
    AnalysisPlan plan =
        new AnalysisPlan(
            rest.pattern(),
            chosen.order(),
            counts,
            AnalysisPlan.mean(a.nonzeros(), a.rows()),
            options,
            new PhaseTimes());
    var known = new SymbolicAnalysis.Input(a.fingerprint(), a.rows(), a.emptyRows(), a.nonzeros());
    SymbolicAnalysis.Data data =
        ReductionFronts.insert(assemble(known, none, rest, chosen, plan), options.reduction());
    double analyzeSeconds = (System.nanoTime() - begin) * 1e-9 - orderSeconds;
    return new SymbolicAnalysis(
        data.withSeconds(new SymbolicAnalysis.Seconds(orderSeconds, analyzeSeconds)));
  }

  /**
   * The analysis for several workers: the blocks for a tall front that arrive beside the longest
   * path of the tree meet in a front of their own before. R is the same up to rounding. Nothing
   * where that relieves no front, and for an analysis made so.
   */
  public static Optional<SymbolicAnalysis> spread(SymbolicAnalysis analysis) {
    return ReductionFronts.spread(analysis.data(), Spread.DEFAULT).map(SymbolicAnalysis::new);
  }

  private static SymbolicOptions ofGraph(SymbolicOptions options) {
    return switch (options.ordering()) {
      case AUTO, BEST, COLAMD -> options.withOrdering(OrderingMethod.AMD);
      default -> options;
    };
  }

  /**
   * The analyses of AUTO and BEST; only the one with the least flops is kept, since it will be
   * chosen.
   */
  private static final class PlanCache {
    private final SymbolicOptions options;
    private @Nullable AnalysisPlan best;

    PlanCache(SymbolicOptions options) {
      this.options = options;
    }

    Orderings.Cost cost(SparsityPattern pattern, Permutation order) {
      AnalysisPlan plan = new AnalysisPlan(pattern, order, options, new PhaseTimes());
      double flops = plan.work;
      if (best == null || flops < best.work) {
        best = plan;
      }
      FactorizationRate rate = options.rate().orElseGet(FactorizationRate::processor);
      long[] largest = plan.largestFront(options.reduction());
      rate.counted(flops, plan.entriesOfR(), plan.fullness(), largest[0], largest[1]);
      double intensity = FrontMemory.intensity(flops, plan.frontBytes());
      double fullness = Math.max(plan.gramShare, plan.fullness());
      return new Orderings.Cost(flops, rate.flopsPerSecond(flops, intensity), fullness);
    }

    AnalysisPlan take(SparsityPattern pattern, Permutation order, PhaseTimes t) {
      AnalysisPlan known = best;
      return known != null && known.order == order
          ? known
          : new AnalysisPlan(pattern, order, options, t);
    }
  }

  private static Orderings.Result order(
      Remainder rest, int columns, SymbolicOptions options, PlanCache plans) {
    Optional<Permutation> given = options.given().map(g -> restrict(g, rest, columns));
    if (rest.pattern().columns() == 0) {
      return new Orderings.Result(
          Permutation.identity(0), OrderingMethod.NATURAL, "nothing left to order");
    }
    return Orderings.order(rest.pattern(), options.ordering(), given, (p, o) -> plans.cost(p, o));
  }

  /** The given order of all columns, restricted to the columns of the remainder. */
  private static Permutation restrict(Permutation given, Remainder rest, int columns) {
    if (given.size() != columns) {
      throw new DimensionMismatchException(
          "the given order has " + given.size() + " columns, the matrix " + columns,
          "given order",
          columns,
          given.size());
    }
    int[] number = new int[columns];
    Arrays.fill(number, -1);
    for (int k = 0; k < rest.originalColumn().length; k++) {
      number[rest.originalColumn()[k]] = k;
    }
    int[] order = new int[rest.originalColumn().length];
    int next = 0;
    for (int k = 0; k < columns; k++) {
      int c = number[given.original(k)];
      if (c >= 0) {
        order[next++] = c;
      }
    }
    return new Permutation(order);
  }

  private static SymbolicAnalysis.Data assemble(
      SymbolicAnalysis.Input known,
      ColumnSingletons singletons,
      Remainder rest,
      Orderings.Result chosen,
      AnalysisPlan plan) {
    int n = known.pattern().columns();
    int n1 = singletons.count;
    FrontTree fronts = plan.fronts;
    int real = fronts.count;
    int empty = rest.emptyColumns().length;
    int nf = real + (empty > 0 ? 1 : 0);
    var rows =
        CompletableFuture.supplyAsync(() -> CompactLongs.of(nf, f -> f < real ? fronts.fm[f] : 0));
    var flops =
        CompletableFuture.supplyAsync(
            () ->
                CompactLongs.of(
                    nf, f -> f < real ? SymbolicAnalysis.packed(plan.structure.flops[f]) : 0));
    long[] leftmost = plan.leftmostCount;
    var counts =
        CompletableFuture.supplyAsync(
            () ->
                CompactLongs.of(
                    n, p -> p < n1 ? 1 : p - n1 < leftmost.length ? leftmost[p - n1] : 0));
    int[] order = new int[n];
    System.arraycopy(singletons.column, 0, order, 0, n1);
    int[] column = plan.columnAtPlace();
    ParallelLoop.ranges(
        column.length,
        (from, to) -> {
          for (int k = from; k < to; k++) {
            order[n1 + k] = rest.originalColumn()[column[k]];
          }
        });
    System.arraycopy(rest.emptyColumns(), 0, order, n - empty, empty);
    var permutation = CompletableFuture.supplyAsync(() -> new Permutation(order));
    int[] firstPivot = new int[nf + 1];
    for (int f = 0; f <= real; f++) {
      firstPivot[f] = n1 + fronts.pivotStart[f];
    }
    firstPivot[nf] = n;
    int[] parent = Arrays.copyOf(fronts.parent, nf);
    int[] tailStart = Arrays.copyOf(plan.structure.tailStart, nf + 1);
    if (empty > 0) {
      parent[real] = -1;
      tailStart[nf] = tailStart[real];
    }
    int[] tails = plan.structure.tailColumns;
    if (n1 > 0) {
      for (int k = 0; k < tails.length; k++) {
        tails[k] += n1;
      }
    }
    return new SymbolicAnalysis.Data(
        known,
        new SymbolicAnalysis.Order(
            permutation.join(), n1, singletons.entries, chosen.method(), chosen.reason()),
        new SymbolicAnalysis.Tree(firstPivot, parent, tailStart, tails),
        new SymbolicAnalysis.Counts(counts.join(), rows.join(), flops.join(), plan.gramBytes),
        new SymbolicAnalysis.Seconds(0, 0));
  }
}
