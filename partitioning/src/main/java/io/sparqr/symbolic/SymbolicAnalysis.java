/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CompactLongs;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.io.Serializable;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The structure of the factorization AP = QR, computed without any values: the column order, the
 * column singletons, the tree of fronts, their columns and sizes, flops and bytes. Immutable and
 * serializable; reusable for any matrix of the same pattern.
 *
 * <p>Positions. "Position" always means a column's place in the final order {@code permutation()}:
 * the {@code singletons()} first (positions 0 .. n1-1, an upper triangular R11 with one row of A
 * per position), then the pivot columns of front 0, of front 1, ... in postorder. Front f has the
 * pivot positions {@code firstPivot(f) .. firstPivot(f+1)} and, after them, the ascending non-pivot
 * positions {@code tailColumns[tailStart[f] .. tailStart[f+1])}.
 *
 * <p>Where a row of A goes: let p be the least position of its columns; if p &lt; n1 the row is the
 * singleton row of position p (row p of R, unchanged), otherwise it belongs to front {@code
 * frontOfPosition(p)}. An empty row belongs to no front: its right-hand side only enters the
 * residual.
 *
 * <p>Sizes are those of full rank. With dependent columns a contribution block may have more rows
 * than {@code cm(f)}, up to min(fm, cn), which numeric code must accept.
 */
public final class SymbolicAnalysis implements Serializable {

  private static final long serialVersionUID = 1;

  /**
   * All data of the analysis, as arrays; see the accessors of the same names for meanings.
   *
   * <p>Bytes: per column 4 for the order and 1 for {@code leftmostCount} (12 more for a column
   * where more than 254 rows begin, unless there are many of these); per front 12 for {@code
   * firstPivot}, {@code parent} and {@code tailStart} and 1 to 4 each for {@code fm} and {@code
   * frontFlops}; 4 per entry of {@code tailColumns}. Derived arrays are computed on first use: the
   * order's inverse (4 per column) and the lists of children (8 per front).
   */
  public record Data(Input input, Order order, Tree tree, Counts counts, Seconds seconds)
      implements Serializable {

    /** A copy with other times. */
    Data withSeconds(Seconds other) {
      return new Data(input, order, tree, counts, other);
    }

    /** {@link Order#permutation}. */
    public Permutation permutation() {
      return order.permutation;
    }

    /** {@link Tree#firstPivot}. */
    public int[] firstPivot() {
      return tree.firstPivot;
    }

    /** {@link Tree#parent}. */
    public int[] parent() {
      return tree.parent;
    }

    /** {@link Tree#tailStart}. */
    public int[] tailStart() {
      return tree.tailStart;
    }

    /** {@link Tree#tailColumns}. */
    public int[] tailColumns() {
      return tree.tailColumns;
    }

    /** {@link Counts#leftmostCount}. */
    public CompactLongs leftmostCount() {
      return counts.leftmostCount;
    }

    /** {@link Counts#fm}. */
    public CompactLongs fm() {
      return counts.fm;
    }

    /** {@link Counts#frontFlops}. */
    public CompactLongs frontFlops() {
      return counts.frontFlops;
    }

    /** {@link Seconds#order}. */
    public double orderSeconds() {
      return seconds.order;
    }

    /** {@link Seconds#analyze}. */
    public double analyzeSeconds() {
      return seconds.analyze;
    }
  }

  /** What was analyzed. */
  public record Input(SparsityPattern.Fingerprint pattern, long rows, long emptyRows, long nonzeros)
      implements Serializable {}

  /** The order of the columns, where it comes from, and the column singletons at its beginning. */
  public record Order(
      Permutation permutation,
      int singletons,
      long singletonEntries,
      OrderingMethod used,
      String reason)
      implements Serializable {}

  /** The fronts in postorder and their columns. */
  public record Tree(int[] firstPivot, int[] parent, int[] tailStart, int[] tailColumns)
      implements Serializable {}

  /**
   * Rows and flops.
   *
   * @param frontFlops of reflectors, encoded by {@link SymbolicAnalysis#packed}
   * @param gramBytes memory of a tree that may be factored by its Gram matrix ({@link GramTree});
   *     0: none is
   */
  public record Counts(
      CompactLongs leftmostCount, CompactLongs fm, CompactLongs frontFlops, long gramBytes)
      implements Serializable {}

  /** Times of the ordering and of the rest. */
  public record Seconds(double order, double analyze) implements Serializable {}

  private final Data data;

  /** Of the run that made it; copies have it, too. */
  private final long id;

  /** Computed on first use, which never happens on the driver of a cluster. */
  @SuppressWarnings("serial")
  private transient volatile @Nullable Children children;

  /** Computed on first use. */
  @SuppressWarnings("serial")
  private transient volatile @Nullable GramTree gramTree;

  /** Computed on first use, for the number of right-hand sides of the last call. */
  @SuppressWarnings("serial")
  private transient volatile @Nullable Tiled tiled;

  /** Flops of all fronts with a number of right-hand sides. */
  private record Tiled(int rhs, TileModel model, double[] flops) {}

  /**
   * Lists of children.
   *
   * @param start size nf+2
   * @param child size nf; the children of front f at start[f] .. start[f+1], the roots last
   */
  private record Children(int[] start, int[] child) {}

  /**
   * The analysis of a new run. Takes the arrays without copying them. O(fronts).
   *
   * @throws IllegalArgumentException if the fronts are not in postorder
   */
  public SymbolicAnalysis(Data data) {
    this(data, UUID.randomUUID().getMostSignificantBits());
  }

  /**
   * A copy of another process's.
   *
   * @param id its {@link #id}
   * @throws IllegalArgumentException if the fronts are not in postorder
   */
  public SymbolicAnalysis(Data data, long id) {
    this.data = data;
    this.id = id;
    int nf = data.tree.parent.length;
    for (int f = 0; f < nf; f++) {
      int p = data.tree.parent[f] < 0 ? nf : data.tree.parent[f];
      if (p <= f || p > nf) {
        throw new IllegalArgumentException("front " + f + " has parent " + p + ": no postorder");
      }
    }
  }

  private Children children() {
    Children c = children;
    if (c == null) {
      synchronized (this) {
        c = children == null ? listChildren() : children;
        children = c;
      }
    }
    return c;
  }

  private Children listChildren() {
    int nf = data.tree.parent.length;
    int[] start = new int[nf + 2];
    for (int p : data.tree.parent) {
      start[(p < 0 ? nf : p) + 1]++;
    }
    for (int f = 0; f <= nf; f++) {
      start[f + 1] += start[f];
    }
    int[] child = new int[nf];
    int[] next = Arrays.copyOf(start, nf + 1);
    for (int f = 0; f < nf; f++) {
      child[next[data.tree.parent[f] < 0 ? nf : data.tree.parent[f]]++] = f;
    }
    return new Children(start, child);
  }

  /** The raw arrays; not to be written to. */
  public Data data() {
    return data;
  }

  /**
   * Whether this is the analysis of that pattern, its rows in any order: by fingerprint, in
   * O(entries).
   */
  public boolean isOf(SparsityPattern pattern) {
    return isOf(pattern.fingerprint());
  }

  /** Whether this is the analysis of the pattern with that fingerprint. */
  public boolean isOf(SparsityPattern.Fingerprint fingerprint) {
    return data.input.pattern.equals(fingerprint);
  }

  /** A number of the run that made this and its copies, by chance. */
  public long id() {
    return id;
  }

  /** Whether the other one is this or a copy of it, sent or read. Another run's is not. O(1). */
  public boolean same(SymbolicAnalysis other) {
    return id == other.id && data.input.equals(other.data.input);
  }

  /** m: rows of A, empty ones included. */
  public long rows() {
    return data.input.rows;
  }

  /** Rows of A without an entry. */
  public long emptyRows() {
    return data.input.emptyRows;
  }

  /** The number of columns of A, n. */
  public int columns() {
    return data.order.permutation.size();
  }

  /** Entries of A. */
  public long nonzeros() {
    return data.input.nonzeros;
  }

  /** The final column order: singletons, then fronts in postorder. */
  public Permutation permutation() {
    return data.order.permutation;
  }

  /** n1, the number of column singletons: positions 0 .. n1-1. */
  public int singletons() {
    return data.order.singletons;
  }

  /** Entries of the n1 singleton rows: rows 0 .. n1-1 of R. */
  public long singletonEntries() {
    return data.order.singletonEntries;
  }

  /** The ordering used for the columns left by the singletons. */
  public OrderingMethod orderingUsed() {
    return data.order.used;
  }

  /** The reason for that ordering. */
  public String orderingReason() {
    return data.order.reason;
  }

  /** The number of fronts, nf. */
  public int fronts() {
    return data.tree.parent.length;
  }

  /** Position of the first pivot column of front f; for f = nf, n. */
  public int firstPivot(int f) {
    return data.tree.firstPivot[f];
  }

  /** The parent front, or -1 for a root. */
  public int parent(int f) {
    return data.tree.parent[f];
  }

  /** Number of children of front f; of the forest's virtual root for f = nf. */
  public int childCount(int f) {
    int[] start = children().start;
    return start[f + 1] - start[f];
  }

  /** Child k (0-based, ascending) of front f; the roots for f = nf. */
  public int child(int f, int k) {
    Children c = children();
    return c.child[c.start[f] + k];
  }

  /** fp, the pivot columns of front f. */
  public int fp(int f) {
    return data.tree.firstPivot[f + 1] - data.tree.firstPivot[f];
  }

  /** cn, the non-pivot columns of front f. */
  public int cn(int f) {
    return data.tree.tailStart[f + 1] - data.tree.tailStart[f];
  }

  /** fn = fp + cn. */
  public int fn(int f) {
    return fp(f) + cn(f);
  }

  /** fm, the rows of front f: its rows of A and its children's contribution rows. */
  public long fm(int f) {
    return data.counts.fm.get(f);
  }

  /** cm, the rows of front f's contribution block at full rank: min(max(fm - fp, 0), cn). */
  public long cm(int f) {
    return Math.min(Math.max(fm(f) - fp(f), 0), cn(f));
  }

  /** Position of column k of front f, k in [0, fn). */
  public int column(int f, int k) {
    int fp = fp(f);
    return k < fp
        ? data.tree.firstPivot[f] + k
        : data.tree.tailColumns[data.tree.tailStart[f] + k - fp];
  }

  /** Number of rows of A whose least position is {@code position}. */
  public long leftmostCount(int position) {
    return data.counts.leftmostCount.get(position);
  }

  /**
   * Flops of front f's staircase factorization by reflectors (Golub and Van Loan's count, without
   * the pattern's zeros).
   */
  public double reflectorFlops(int f) {
    return flops(data.counts.frontFlops.get(f));
  }

  /**
   * Flops of front f: {@link #reflectorFlops}, or for a front that is to be taken by its Gram
   * matrix as many as reflectors do in the time of that.
   */
  public double frontFlops(int f) {
    return data.counts.gramBytes > 0 ? gramTree().cost(f) : reflectorFlops(f);
  }

  /**
   * Flops of all fronts by the tiles of a device, kept for later solves of this analysis.
   *
   * @param rhs right-hand sides carried along
   * @param model the tiles
   */
  double[] tileFlops(int rhs, TileModel model, IntFunction<double[]> count) {
    Tiled known = tiled;
    if (known == null || known.rhs != rhs || !known.model.equals(model)) {
      known = new Tiled(rhs, model, count.apply(rhs));
      tiled = known;
    }
    return known.flops;
  }

  /** Whether front f is to be taken by its Gram matrix, with one right-hand side. */
  public boolean isGram(int f) {
    return data.counts.gramBytes > 0 && gramTree().isGram(f);
  }

  /** {@link GramTree#bytes} of the tree of which front f is the root; 0 if it is none. */
  public long gramBytes(int f) {
    return isGram(f) && gramTree().isRoot(f) ? gramTree().bytes(f) : 0;
  }

  private GramTree gramTree() {
    GramTree tree = gramTree;
    if (tree == null) {
      double rows = Math.max(1, rows() - emptyRows() - singletons());
      double length = (nonzeros() - singletonEntries()) / rows;
      double one = GramWork.piece(1, length, 1);
      double[] own = new double[fronts()];
      double[] flops = new double[fronts()];
      for (int f = 0; f < own.length; f++) {
        flops[f] = reflectorFlops(f);
        own[f] = one * data.counts.leftmostCount.sum(firstPivot(f), firstPivot(f + 1));
      }
      tree = new GramTree(new Sizes(), flops, own, 1, data.counts.gramBytes);
      gramTree = tree;
    }
    return tree;
  }

  private final class Sizes implements GramTree.Fronts {

    @Override
    public int count() {
      return fronts();
    }

    @Override
    public int parent(int f) {
      return SymbolicAnalysis.this.parent(f);
    }

    @Override
    public int pivots(int f) {
      return fp(f);
    }

    @Override
    public int tail(int f) {
      return cn(f);
    }

    @Override
    public double block(int f) {
      return cm(f);
    }
  }

  /** Flops of all fronts, {@link #frontFlops}. */
  public double flops() {
    double sum = 0;
    for (int f = 0; f < fronts(); f++) {
      sum += frontFlops(f);
    }
    return sum;
  }

  /**
   * Flops as a long for {@link Data#frontFlops()}: whole numbers (all counts up to 2^53 are whole)
   * unchanged, others as their bits with the sign set.
   *
   * @param flops at least 0
   */
  static long packed(double flops) {
    return flops < 0x1p53 && flops == Math.rint(flops)
        ? (long) flops
        : Double.doubleToRawLongBits(flops) | Long.MIN_VALUE;
  }

  static double flops(long packed) {
    return packed >= 0 ? packed : Double.longBitsToDouble(packed & Long.MAX_VALUE);
  }

  /** Flops per byte of the fronts, right-hand sides not counted; 0 without fronts. O(nf). */
  public double intensity() {
    double bytes = 0;
    for (int f = 0; f < fronts(); f++) {
      bytes += FrontMemory.frontBytes(this, f, 0);
    }
    return FrontMemory.intensity(flops(), bytes);
  }

  /** The front that owns a pivot position, in [n1, n). O(log nf). */
  public int frontOfPosition(int position) {
    if (position < data.order.singletons || position >= columns()) {
      throw new IndexOutOfBoundsException("position " + position + " belongs to no front");
    }
    int k = Arrays.binarySearch(data.tree.firstPivot, position);
    k = k >= 0 ? k : -k - 2;
    while (data.tree.firstPivot[k + 1] <= position) {
      // Fronts without pivots share the start of the next front with pivots.
      k++;
    }
    return k;
  }
}
