/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.numeric.dense.SmallDense;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.threads.Crew;
import io.sparqr.threads.Parallel;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * M = L + S of a dense matrix in this JVM, L of low rank and S sparse: {@link Pursuit} over parts
 * of the rows, one after the other or by several threads, with the same bits. An iteration is QR of
 * all rows (2 m n^2 flops), the SVD of R (O(n^3)) and a product (4 m n r flops, r the rank of L, at
 * most 2 m n^2). Memory: 40 m n bytes. Immutable once made.
 */
public final class DensePursuit {

  /** Values of a part, at least; its rows are 8 times the columns, at least. */
  private static final long PART = 1 << 18;

  private static final int TALL = 8;
  private static final int MOST_PARTS = 16;

  private final int rows;
  private final int columns;
  private final double[] u;
  private final double[] sigma;
  private final double[] v;
  private final CsrMatrix s;
  private final Pursuit pursuit;
  private final PursuitOptimality optimality;
  private final String place;

  private DensePursuit(Work work, String place) {
    this.place = place;
    rows = work.rows;
    columns = work.columns;
    pursuit = work.pursuit;
    PursuitPart[] parts = work.finished();
    PursuitStep step = work.last();
    int rank = step.rank();
    sigma = new double[rank];
    u = new double[Math.toIntExact((long) rows * rank)];
    v = new double[columns * rank];
    if (rank > 0) {
      lowRank(parts, step);
    }
    s = sparse(parts);
    optimality = work.optimality(sigma);
  }

  /**
   * Decomposes a matrix.
   *
   * @param rows m rows of n values, m at least n
   * @param threads that compute at once, at least 1; they change no bit
   * @throws MatrixFormatException if there are no rows or no columns, or all values are zero
   * @throws DimensionMismatchException if rows differ in length, or m is less than n
   * @throws NonFiniteValueException for NaN and infinity
   * @throws IndexOverflowException if U, m x rank, or S has 2^31 values
   */
  public static DensePursuit decompose(double[][] rows, PursuitOptions options, int threads) {
    var work = new Work(rows, options, threads);
    work.run();
    return new DensePursuit(work, "cores of the host");
  }

  /** For {@link PlacedPursuit}. */
  static Optional<DensePursuit> decompose(
      double[][] rows,
      PursuitOptions options,
      int threads,
      Function<double[][], Optional<PursuitSite>> open) {
    var work = new Work(rows, options, threads);
    Optional<PursuitSite> found = open.apply(rows);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    String place;
    try (PursuitSite site = found.get()) {
      place = site.description();
      work.run(site);
    }
    return Optional.of(new DensePursuit(work, place));
  }

  /** What there is meanwhile. */
  private static final class Work {
    private final int rows;
    private final int columns;
    private final int threads;
    private final Pursuit pursuit;
    private final PursuitRows[] m;
    private final PursuitState[] state;
    private final PursuitState[] before;
    private @Nullable PursuitStep last;

    Work(double[][] all, PursuitOptions options, int threads) {
      this.threads = threads;
      rows = all.length;
      columns = requireMatrix(all);
      pursuit = new Pursuit(options, rows, columns);
      long parts = Math.min((long) rows * columns / PART, rows / ((long) TALL * columns));
      int count = (int) Math.max(1, Math.min(MOST_PARTS, parts));
      m = new PursuitRows[count];
      state = new PursuitState[count];
      before = new PursuitState[count];
      each(
          p -> {
            var builder = new PursuitRows.Builder();
            for (int i = from(p); i < from(p + 1); i++) {
              builder.row(all[i]);
            }
            m[p] = builder.build(p, 0);
          });
    }

    private int from(int part) {
      return (int) ((long) rows * part / m.length);
    }

    private void each(java.util.function.IntConsumer body) {
      Parallel.loop(
          m.length,
          1,
          threads,
          (from, to, t) -> {
            for (int p = from; p < to; p++) {
              body.accept(p);
            }
          });
    }

    private interface OfPart {
      DenseQr qr(int part);
    }

    /** R of all rows. */
    private double[] reduced(OfPart of) {
      DenseQr[] qr = new DenseQr[m.length];
      each(p -> qr[p] = of.qr(p));
      return joined(qr);
    }

    private double[] joined(DenseQr[] qr) {
      if (qr.length == 1) {
        return qr[0].r();
      }
      DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), columns, Crew.ALONE);
      for (DenseQr part : qr) {
        builder.rows(part.r(), part.height(), part.height());
      }
      return builder.factor().r();
    }

    void run() {
      var norms = new PursuitTally[m.length];
      double[] r =
          reduced(
              p -> {
                norms[p] = m[p].norms();
                return m[p].qr();
              });
      PursuitStart start = pursuit.begin(r, sum(norms));
      // of the coming iteration: the last iteration's is for nothing
      DenseQr[] qr = new DenseQr[m.length];
      each(
          p -> {
            state[p] = PursuitState.started(m[p], start);
            qr[p] = state[p].lagrangian(m[p]);
          });
      boolean more = true;
      while (more) {
        PursuitStep step = pursuit.step(start, joined(qr));
        var tally = new PursuitTally[m.length];
        each(
            p -> {
              PursuitState.Advanced next = state[p].advanced(m[p], step, before[p]);
              before[p] = state[p];
              state[p] = next.state();
              qr[p] = next.qr();
              tally[p] = state[p].tally();
            });
        more = pursuit.goesOn(step, sum(tally));
        last = step;
      }
    }

    void run(PursuitSite site) {
      var norms = new PursuitTally[m.length];
      each(p -> norms[p] = m[p].norms());
      PursuitTally all = sum(norms);
      double scale = Pursuit.scale(all);
      double[] reduced = site.reduced(scale);
      for (int k = 0; k < reduced.length; k++) {
        reduced[k] /= scale;
      }
      PursuitStart start = pursuit.begin(reduced, all);
      RightSvd w = site.begin(start);
      PursuitStep step;
      boolean more;
      do {
        step = pursuit.step(start, w);
        PursuitSite.Iterated made = site.advance(step);
        w = made.w();
        more = pursuit.goesOn(step, made.tally());
      } while (more);
      last = step;
      double[] s = new double[Math.multiplyExact(rows, columns)];
      double[] y = new double[s.length];
      site.before(s, y);
      PursuitStep ended = step;
      each(p -> before[p] = PursuitState.of(m[p], ended, from(p), s, y));
    }

    private static PursuitTally sum(PursuitTally[] parts) {
      PursuitTally sum = PursuitTally.NONE;
      for (PursuitTally part : parts) {
        sum = sum.plus(part);
      }
      return sum;
    }

    PursuitStep last() {
      if (last == null) {
        throw new IllegalStateException("no iteration yet");
      }
      return last;
    }

    PursuitPart[] finished() {
      var parts = new PursuitPart[m.length];
      PursuitStep step = last();
      each(p -> parts[p] = before[p].finished(m[p], step));
      return parts;
    }

    PursuitOptimality optimality(double[] sigma) {
      PursuitStep step = last();
      var tally = new PursuitTally[m.length];
      double[] r =
          reduced(
              p -> {
                PursuitDual dual = before[p].dual(m[p], step);
                tally[p] = dual.tally();
                return dual.qr();
              });
      return pursuit.optimality(sigma, r, sum(tally));
    }
  }

  /** The number of columns. */
  private static int requireMatrix(double[][] rows) {
    if (rows.length == 0 || rows[0].length == 0) {
      String what = rows.length == 0 ? "rows" : "columns";
      throw new MatrixFormatException("a matrix without " + what, "input", -1);
    }
    int n = rows[0].length;
    for (int i = 0; i < rows.length; i++) {
      if (rows[i].length != n) {
        throw new DimensionMismatchException(
            "row %d has %d values, those before it %d".formatted(i, rows[i].length, n),
            "columns",
            n,
            rows[i].length);
      }
      for (int k = 0; k < n; k++) {
        if (!Double.isFinite(rows[i][k])) {
          throw new NonFiniteValueException(
              "row %d has %s in column %d".formatted(i, rows[i][k], k), i, k);
        }
      }
    }
    if (rows.length < n) {
      throw new DimensionMismatchException(
          "%d rows, %d columns: at least as many rows as columns are needed; decompose the transpose"
              .formatted(rows.length, n),
          "rows",
          n,
          rows.length);
    }
    return n;
  }

  /** SVD of L = F V_r' by QR of F: its columns are orthogonal already, U's are to rounding. */
  private void lowRank(PursuitPart[] parts, PursuitStep step) {
    int rank = sigma.length;
    DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), rank, Crew.ALONE).keepQ();
    for (PursuitPart part : parts) {
      for (int c = 0; c < part.chunks(); c++) {
        builder.rows(part.factor(c), part.rows(c), part.rows(c));
      }
    }
    DenseQr qr = builder.factor();
    double[] left = new double[rank * rank];
    double[] right = new double[rank * rank];
    SmallDense.svd(qr.r(), rank, sigma, left, right);
    for (int k = 0; k < rank; k++) {
      System.arraycopy(left, k * rank, u, k * rows, rank);
    }
    qr.applyQ(u, rank);
    System.arraycopy(step.turned(right), 0, v, 0, v.length);
  }

  private CsrMatrix sparse(PursuitPart[] parts) {
    long nonzeros = 0;
    for (PursuitPart part : parts) {
      nonzeros += part.nonzeros();
    }
    if (nonzeros > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "S has %d entries: they do not fit into arrays".formatted(nonzeros), "S", nonzeros);
    }
    int[] start = new int[rows + 1];
    int[] index = new int[(int) nonzeros];
    double[] value = new double[(int) nonzeros];
    int at = 0;
    int row = 0;
    for (PursuitPart part : parts) {
      for (int c = 0; c < part.chunks(); c++) {
        for (int i = 0; i < part.rows(c); i++) {
          int[] columnsOfRow = part.indices(c, i);
          System.arraycopy(columnsOfRow, 0, index, at, columnsOfRow.length);
          System.arraycopy(part.values(c, i), 0, value, at, columnsOfRow.length);
          at += columnsOfRow.length;
          start[++row] = at;
        }
      }
    }
    return new CsrMatrix(rows, columns, start, index, value);
  }

  /** m. */
  public int rows() {
    return rows;
  }

  /** n. */
  public int columns() {
    return columns;
  }

  /** The rank of L. */
  public int rank() {
    return sigma.length;
  }

  /** U of L = U diag(sigma) V', m x rank, column-major, orthonormal to rounding. A copy. */
  public double[] u() {
    return u.clone();
  }

  /** Size rank, descending. A copy. */
  public double[] sigma() {
    return sigma.clone();
  }

  /** V of L, n x rank, column-major. A copy. */
  public double[] v() {
    return v.clone();
  }

  /** A row of L, n values. */
  public double[] lowRankRow(int i) {
    double[] row = new double[columns];
    for (int k = 0; k < sigma.length; k++) {
      double x = u[i + k * rows] * sigma[k];
      for (int j = 0; j < columns; j++) {
        row[j] += x * v[j + k * columns];
      }
    }
    return row;
  }

  /** S, m x n. */
  public CsrMatrix s() {
    return s;
  }

  /** The weight of the sparse part. */
  public double lambda() {
    return pursuit.lambda();
  }

  /** All iterations. */
  public List<PursuitIteration> history() {
    return pursuit.history();
  }

  /** Whether the tolerance was reached. */
  public boolean converged() {
    return pursuit.converged();
  }

  /** Where the iterations were made: the host's cores, or a device by its name. */
  public String place() {
    return place;
  }

  /** That it was not, if so. */
  public List<String> warnings() {
    return pursuit.warnings();
  }

  /** How far L and S are from the optimum. */
  public PursuitOptimality optimality() {
    return optimality;
  }

  @Override
  public String toString() {
    return "DensePursuit[%d x %d, rank %d, %d entries, %d iterations%s]"
        .formatted(
            rows,
            columns,
            rank(),
            s.nonzeros(),
            history().size(),
            converged() ? "" : ", not converged");
  }
}
