/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveReport.FactorBytes;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Every solve finds out if a bit of R has changed since it was made, wherever that is: in a front
 * that several threads work on or in a small one, in a block's triangle or beside it.
 */
class CheckedSolveTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);

  /** Columns of one front, whose blocks threads share; and of small ones. */
  private static final int WIDE = 1200;

  private static final int NARROW = 80;
  private static final int N = WIDE + NARROW;

  private final Random random = new Random(SEED);
  private final SolvePlan plan = plan();
  private final List<double[]> values = new ArrayList<>();
  private final List<double[]> rhs = new ArrayList<>();
  private final List<TaskOutput> kept = kept();
  private final int[] threads = {2};

  /** One row of the first columns and pairs of the others, each often enough for full rank. */
  private static SolvePlan plan() {
    int rows = 1 + NARROW;
    long[] start = new long[rows + 1];
    int[] index = new int[WIDE + 2 * NARROW];
    long[] times = new long[rows];
    for (int j = 0; j < WIDE; j++) {
      index[j] = j;
    }
    start[1] = WIDE;
    times[0] = 2 * WIDE;
    for (int i = 0; i < NARROW; i++) {
      index[WIDE + 2 * i] = Math.min(WIDE + i, WIDE + (i + 3) % NARROW);
      index[WIDE + 2 * i + 1] = Math.max(WIDE + i, WIDE + (i + 3) % NARROW);
      start[i + 2] = start[i + 1] + 2;
      times[i + 1] = 3;
    }
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(
            new SparsityPattern(N, start, index, times),
            SymbolicOptions.defaults().withSingletons(false));
    double[] ones = new double[N];
    Arrays.fill(ones, 1);
    return new SolvePlan(
        analysis,
        TreePartitioner.partition(
            analysis, ResourceModel.uniform(1, 1e10, 1L << 40), PartitionOptions.defaults()),
        ones,
        new double[] {1},
        new SolvePlan.Numbers(
            1,
            1e-10,
            Ridge.NONE,
            new DeviceVerdict.Refuse("asked for"),
            0,
            true,
            new SolvePlan.Fronts(false, false),
            false,
            0),
        new Readings(List.of()));
  }

  /** Any rows of R with a large diagonal. */
  private List<TaskOutput> kept() {
    SymbolicAnalysis a = plan.analysis();
    assertThat(plan.partition().tasks()).hasSize(1);
    var fronts = new ArrayList<FrontFactor>();
    int widest = 0;
    for (int f = 0; f < a.fronts(); f++) {
      int rank = (int) Math.min(a.fp(f), a.fm(f));
      int fn = a.fn(f);
      double[] r = random.doubles(rank * fn - rank * (rank - 1) / 2, -1, 1).toArray();
      for (int i = 0, at = 0; i < rank; at += fn - i, i++) {
        r[at] = fn;
      }
      double[] b = random.doubles(rank, -1, 1).toArray();
      values.add(r);
      rhs.add(b);
      fronts.add(new FrontFactor(f, fn, IntStream.range(0, rank).toArray(), r, b, 1));
      widest = Math.max(widest, fn);
    }
    assertThat(widest).isGreaterThanOrEqualTo(FrontVectors.SHARED_ENTRIES / FrontVectors.BLOCK);
    assertThat(a.fronts()).isGreaterThan(2);
    var bytes = new TaskReport.Bytes(0, 0, 0, FactorBytes.NONE);
    var report = new TaskReport(0, FactorSummary.none(), new double[1], 0, new int[0], bytes, "");
    var all = new ArrayList<TaskOutput>();
    all.add(new TaskOutput.Report(report.encode()));
    all.addAll(KeptFronts.of(fronts, 1, 1, null));
    return all;
  }

  /** A solve with a task's stored content. */
  private interface Solve {
    byte[] run(Iterator<TaskOutput> content, Sparse given);
  }

  private List<Solve> solves() {
    return List.of(
        (r, c) -> TriangularSolve.back(plan, r, c, false, threads),
        (r, c) -> TriangularSolve.back(plan, r, withProbe(c), true, threads),
        (r, c) -> TriangularSolve.normal(plan, r, c, threads),
        (r, c) -> TriangularSolve.homogeneous(plan, r, c, threads),
        (r, c) -> TriangularSolve.forward(plan, r, c, false, threads));
  }

  /** The same values for the right-hand side and the probe. */
  private static Sparse withProbe(Sparse c) {
    double[] twice = new double[2 * c.value().length];
    for (int i = 0; i < twice.length; i++) {
      twice[i] = c.value()[i / 2];
    }
    return new Sparse(c.position(), twice, 2);
  }

  @Test
  void everySolveFindsAChangedBit() {
    var c = new Sparse(IntStream.range(0, N).toArray(), random.doubles(N, -1, 1).toArray(), 1);
    for (int s = 0; s < solves().size(); s++) {
      Solve solve = solves().get(s);
      byte[] x = solve.run(kept.iterator(), c);
      for (int k = 0; k < 40; k++) {
        int front = k % 2 == 0 ? widest() : random.nextInt(values.size());
        double[] in = k % 8 == 7 ? rhs.get(front) : values.get(front);
        int at = random.nextInt(in.length);
        double before = in[at];
        in[at] = Double.longBitsToDouble(Double.doubleToRawLongBits(before) ^ 1L << k);
        assertThatThrownBy(() -> solve.run(kept.iterator(), c))
            .as("seed %d, solve %d, front %d, value %d of %d", SEED, s, front, at, in.length)
            .isInstanceOf(NumericalIntegrityException.class);
        in[at] = before;
      }
      assertThat(solve.run(kept.iterator(), c)).as("solve %d", s).isEqualTo(x);
    }
  }

  private int widest() {
    int widest = 0;
    for (int f = 1; f < values.size(); f++) {
      widest = values.get(f).length > values.get(widest).length ? f : widest;
    }
    return widest;
  }
}
