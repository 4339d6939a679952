/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorList;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Fronts with dead columns, triangularised again without them. The executor has finished them: A_f
 * = Q R holds for any pivots, so dropping dead columns from the min(fm, fn) rows of R by Heath's
 * method gives the same result as dropping them from A_f. The rows of R are downloaded and become
 * the rows of a problem for a host backend, whose staircase makes it cheap: O(d fn^2) flops for d
 * dead columns.
 *
 * <p>R differs from the R of another backend by rounding errors, and with it a pivot near the
 * tolerance may fall on the other side of it. So a front counts as decided only if the 2-norm of
 * everything dropped is {@value #MARGIN} times below the tolerance and every pivot kept is as far
 * above it; the caller factors the others from their rows, as any backend does. A front's decision
 * depends on that front alone.
 */
final class Retriangularization {

  /** Minimum factor between pivots and the tolerance. */
  private static final double MARGIN = 100;

  /** Approximate doubles of R on the host at a time. */
  private static final long GROUP_DOUBLES = 1 << 27;

  private final StageProgram program;
  private final int[] fronts;
  private final SymbolicAnalysis analysis;
  private final RowFetch fetch;
  private final SubtreeFactorizer host;
  private final FactorOptions options;
  private double flops;

  /**
   * For the fronts of a stage.
   *
   * @param fronts of the stage, by number of the analysis
   * @param fetch downloads rows of the stage
   * @param host Heath's method; not closed here
   */
  Retriangularization(
      StageProgram program,
      int[] fronts,
      SymbolicAnalysis analysis,
      RowFetch fetch,
      SubtreeFactorizer host,
      FactorOptions options) {
    this.program = program;
    this.fronts = fronts;
    this.analysis = analysis;
    this.fetch = fetch;
    this.host = host;
    this.options = options;
  }

  /** Flops of the host so far. */
  double flops() {
    return flops;
  }

  /**
   * Triangularises finished fronts of the stage again.
   *
   * @param finished fronts, none above another
   * @param sink takes each decided front once: its rows of R as downloaded, the result
   * @return undecided fronts, and those whose R exceeds an array
   */
  List<Integer> run(List<Integer> finished, BiConsumer<RowBlock, SubtreeFactor> sink) {
    var undecided = new ArrayList<Integer>();
    var which = new ArrayList<Integer>();
    for (int f : finished) {
      boolean fits = program.descriptor(f).trapezoidDoubles() <= Integer.MAX_VALUE - 8;
      (fits ? which : undecided).add(f);
    }
    int from = 0;
    while (from < which.size()) {
      int to = from;
      long doubles = 0;
      do {
        doubles += program.descriptor(which.get(to)).trapezoidDoubles();
        to++;
      } while (to < which.size()
          && doubles + program.descriptor(which.get(to)).trapezoidDoubles() <= GROUP_DOUBLES);
      group(which.subList(from, to), sink, undecided);
      from = to;
    }
    return undecided;
  }

  private void group(
      List<Integer> which, BiConsumer<RowBlock, SubtreeFactor> sink, List<Integer> undecided) {
    int[] numbers = which.stream().mapToInt(f -> fronts[f]).toArray();
    var all = new SubtreeProblem(analysis, numbers, rowsOfR(which), List.of());
    if (offer(all, sink)) {
      return;
    }
    if (numbers.length == 1) {
      undecided.add(which.get(0));
      return;
    }
    var rows = new RowsByFront(all);
    for (int f : which) {
      int[] one = {fronts[f]};
      if (!offer(new SubtreeProblem(analysis, one, rows.only(one), List.of()), sink)) {
        undecided.add(f);
      }
    }
  }

  private boolean offer(SubtreeProblem problem, BiConsumer<RowBlock, SubtreeFactor> sink) {
    SubtreeFactor result;
    try {
      result = host.factor(problem, options);
    } catch (NumericalIntegrityException e) {
      // The downloaded rows may be wrong: the task can be repeated.
      var failed = new IntegrityFailure("rows of R that came down: " + e.getMessage());
      failed.initCause(e);
      throw failed;
    }
    flops += result.summary().flopsDone();
    boolean decided = decided(result, options.rankTolerance());
    if (decided) {
      sink.accept(problem.rows(), result);
    }
    return decided;
  }

  /** Whether no pivot was near the tolerance; false if there is a NaN. */
  private static boolean decided(SubtreeFactor result, double tolerance) {
    if (tolerance < 0) {
      return true;
    }
    boolean decided = result.summary().droppedNorm() <= tolerance / MARGIN;
    for (FrontFactor f : result.fronts()) {
      int at = 0;
      for (int k = 0; decided && k < f.rank(); k++) {
        decided = f.values().get(at) > MARGIN * tolerance;
        at += f.fn() - f.livePivot()[k];
      }
    }
    return decided;
  }

  /** The rows of R of some fronts, front by front: row i of a front starts at its column i. */
  private RowBlock rowsOfR(List<Integer> which) {
    int rhs = program.rhs();
    int[] firstRow = new int[program.fronts()];
    int count = 0;
    for (int f : which) {
      firstRow[f] = count;
      count += program.descriptor(f).trapezoidRows();
    }
    int[] front = new int[count];
    int[] start = new int[count + 1];
    for (int f : which) {
      FrontDescriptor d = program.descriptor(f);
      for (int i = 0; i < d.trapezoidRows(); i++) {
        int row = firstRow[f] + i;
        front[row] = fronts[f];
        start[row + 1] = Math.addExact(start[row], d.fn() - i);
      }
    }
    var rows =
        new RowBlock(
            front,
            start,
            new int[start[count]],
            new double[start[count]],
            new double[Math.multiplyExact(count, rhs)],
            rhs);
    var pieces = new ArrayList<RowFetch.Piece>();
    for (int f : which) {
      pieces.add(new RowFetch.Piece(f, 0, program.descriptor(f).trapezoidRows()));
    }
    fetch.run(pieces, (piece, values) -> put(piece, values, firstRow[piece.front()], rows));
    return rows;
  }

  private void put(RowFetch.Piece piece, DoubleBuffer values, int firstRow, RowBlock rows) {
    int front = fronts[piece.front()];
    int fn = program.descriptor(piece.front()).fn();
    for (int i = piece.from(); i < piece.to(); i++) {
      int at = rows.rowStart()[firstRow + i];
      values.get(rows.value(), at, fn - i);
      for (int k = i; k < fn; k++) {
        rows.position()[at + k - i] = analysis.column(front, k);
      }
    }
    int right = (firstRow + piece.from()) * rows.rhsCount();
    values.get(rows.rhs(), right, (piece.to() - piece.from()) * rows.rhsCount());
  }

  /**
   * Q of a front triangularised again: the one of its trapezoid, then the host's.
   *
   * @param q assuming no dead pivot
   * @param again of the rows of R
   */
  static FrontReflectors composed(FrontReflectors q, FrontReflectors again) {
    for (int i = 0; i < again.own().length; i++) {
      if (again.own()[i] != i) {
        throw new IllegalStateException("rows of R of front " + q.front() + " out of order");
      }
    }
    var blocks = new ArrayList<ReflectorBlock>(q.blocks());
    // rows are downloaded with a positive diagonal: I - 2 e e' negates a row
    var flips = new ReflectorList();
    for (int i = 0; i < q.rank(); i++) {
      if (q.negative()[i]) {
        flips.add(i, 1, 2);
      }
    }
    blocks.add(flips.block(ReflectorBlock.run(0, q.rank())));
    blocks.addAll(again.blocks());
    return new FrontReflectors(
        q.front(),
        q.rows(),
        q.own(),
        q.children(),
        Arrays.copyOf(again.livePivot(), again.rank()),
        Arrays.copyOf(again.negative(), again.rank()),
        again.result(),
        blocks);
  }
}
