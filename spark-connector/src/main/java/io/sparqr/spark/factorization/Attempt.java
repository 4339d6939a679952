/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.condition.RankRequest;
import io.sparqr.spark.observe.Stopwatch;
import io.sparqr.spark.observe.Times;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * One of the factorizations of a solve: the first, or one that the review of its rank has led to.
 * They share a stopwatch, so that the report's seconds are those of the whole solve.
 */
public final class Attempt {

  public final Times times;
  public final Stopwatch watch;
  public final RankRequest request;
  private final Optional<SymbolicAnalysis> before;

  /** The first. */
  public Attempt() {
    this(new Times(), new Stopwatch(), RankRequest.FIRST, Optional.empty());
  }

  private Attempt(
      Times times, Stopwatch watch, RankRequest request, Optional<SymbolicAnalysis> before) {
    this.times = times;
    this.watch = watch;
    this.request = request;
    this.before = before;
  }

  /** The next, after one with this analysis. */
  public Attempt next(RankRequest asked, SymbolicAnalysis analysis) {
    return new Attempt(times, watch, asked, Optional.of(analysis));
  }

  /** The caller's options with what the request changes in them. */
  public SolveOptions asked(SolveOptions options) {
    if (before.isEmpty()) {
      return options;
    }
    SolveOptions o = options;
    if (request.tolerance().isPresent()) {
      o = o.with(o.problem().withRankTolerance(request.tolerance().getAsDouble()));
    }
    SymbolicAnalysis last = before.get();
    if (request.last().length == 0) {
      return o.with(o.analysis().withKnown(before));
    }
    SymbolicOptions s = o.analysis().symbolic();
    int[] barred =
        IntStream.concat(Arrays.stream(s.notSingletons()), Arrays.stream(request.last()))
            .sorted()
            .distinct()
            .toArray();
    return o.with(
        o.analysis()
            .withKnown(Optional.empty())
            .withSymbolic(s.withGiven(moved(last.permutation())).withNotSingletons(barred)));
  }

  /** The order before, with the requested columns at its end. */
  private Permutation moved(Permutation order) {
    int n = order.size();
    boolean[] atEnd = new boolean[n];
    for (int j : request.last()) {
      atEnd[j] = true;
    }
    int[] moved = new int[n];
    int to = 0;
    for (int p = 0; p < n; p++) {
      if (!atEnd[order.original(p)]) {
        moved[to++] = order.original(p);
      }
    }
    for (int j : request.last()) {
      moved[to++] = j;
    }
    return new Permutation(moved);
  }
}
