/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.assembly.FrontLayout;
import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.numeric.dense.StaircaseQr;
import io.sparqr.numeric.dense.TallQr;
import io.sparqr.numeric.dense.TallReducer;
import io.sparqr.numeric.gram.GramQr;
import io.sparqr.numeric.gram.GramShape;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Assembles, factors and packs single fronts; one instance per thread. Bytes: the front itself,
 * (rows + 1) x (fn + rhs + 1) doubles, and the panels' workspaces; a front with far more rows than
 * columns goes through a {@link TallQr} first and needs its triangle and chunk.
 */
final class FrontWorker {

  /** Workspaces of up to this many entries are reused for the next front. */
  private static final int KEPT_ENTRIES = 1 << 21;

  /** A tree of fronts is taken by its Gram matrix if it needs at most this part of the heap. */
  private static final double HEAP_SHARE = 0.625;

  /** A Gram matrix that costs less is not worth waking other threads. */
  private static final double SHARED_GRAM = 2e7;

  private final SubtreeState state;
  private final DenseKernels kernels;
  private final FrontAssembly assembly;
  private final StaircaseQr qr;
  private final int rhsCount;
  private final double[] squares;
  private double flops;
  private double dropped;

  /**
   * Why a tree whose fronts are at hand was not taken by its Gram matrix; empty: it was not tried.
   */
  private String refusal = "";

  /** Flops told of a tree that was refused, until its fronts have made up for them. */
  private double toldBefore;

  private double[] kept = new double[1 << 12];
  private int[] rowPivot = new int[64];

  FrontWorker(SubtreeState state, DenseKernels kernels) {
    this.state = state;
    this.kernels = kernels;
    this.assembly = state.newAssembly();
    this.qr = new StaircaseQr(kernels);
    this.rhsCount = state.rhsCount();
    this.squares = new double[rhsCount];
  }

  /**
   * Factors the front at this index in the task's list, after its children.
   *
   * @return its group, if it is the root of one whose Gram matrix was refused: none of the group's
   *     fronts is done then
   */
  @Nullable RefusedGroup process(int index, Crew crew) {
    if (!state.groups().has(index)) {
      single(index, crew);
      return null;
    }
    if (!state.groups().isRoot(index) || gram(index, crew)) {
      return null;
    }
    var group = new RefusedGroup(state, state.groups().members(index), toldBefore, refusal);
    toldBefore = 0;
    refusal = "";
    return group;
  }

  /** Factors a refused group, front by front. */
  void byReflectors(RefusedGroup group, Crew crew) {
    for (int p = 0; p < group.parts(); p++) {
      part(group, p, crew);
    }
  }

  /** Factors a part of a refused group, after those below it. */
  void part(RefusedGroup group, int part, Crew crew) {
    refusal = group.why();
    toldBefore = group.told(part);
    for (int i : group.fronts(part)) {
      state.requireGoingOn(i);
      single(i, crew);
    }
    refusal = "";
    toldBefore = 0;
  }

  private void single(int index, Crew crew) {
    SymbolicAnalysis analysis = state.analysis();
    int f = state.front(index);
    assembly.begin(f);
    int children = analysis.childCount(f);
    long childBytes = 0;
    for (int c = 0; c < children; c++) {
      ContributionBlock block = state.takeBlock(analysis.child(f, c));
      if (block != null) {
        assembly.addChild(block);
        // Blocks from outside stay: the check compares with them.
        childBytes += state.isOfTask(block.front()) ? bytes(block) : 0;
      }
    }
    assembly.sort();
    try {
      factor(index, f, analysis.fn(f), crew, childBytes);
    } catch (OutOfMemoryError e) {
      int count = assembly.layout().count();
      throw tooBig(f, count, FrontMemory.hostBytes(count, analysis.fn(f), rhsCount), e);
    }
  }

  /** A front's rows, or their triangle, as the rank-revealing step takes them. */
  private record Assembled(double[] matrix, int ld, int height, int[] stair, long bytes) {}

  private void factor(int index, int f, int fn, Crew crew, long childBytes) {
    Arrays.fill(squares, 0);
    QKeeper keeper = state.keepsQ() ? new QKeeper(f, assembly.layout()) : null;
    double all = state.analysis().frontFlops(f);
    var progress = new FrontProgress(state.work(), all, toldBefore);
    toldBefore = Math.max(0, toldBefore - all);
    flops = 0;
    dropped = 0;
    boolean tall = FrontMemory.isTall(assembly.layout().count(), fn, rhsCount);
    Assembled a = tall ? tall(fn, crew, keeper, progress) : whole(f, fn, crew);
    assembly.release();
    state.release(childBytes);
    finish(index, a, crew, keeper, progress);
  }

  /** The rank-revealing step and the result of an assembled front. */
  private void finish(
      int index, Assembled a, Crew crew, @Nullable QKeeper keeper, FrontProgress progress) {
    int fn = state.analysis().fn(state.front(index));
    int fp = state.analysis().fp(state.front(index));
    if (rowPivot.length < Math.min(a.height, fn)) {
      rowPivot = new int[2 * Math.min(a.height, fn)];
    }
    qr.heardBy(progress);
    double[] matrix = a.matrix;
    int ld = a.ld;
    int live = qr.factor(matrix, ld, fn, rhsCount, fp, state.tolerance(), a.stair, rowPivot, crew);
    TallReducer.addSquares(matrix, ld, live, a.height, fn, squares);
    if (keeper != null) {
      keeper.factored(qr, matrix, ld, live, a.stair, rowPivot);
      state.keep(index, keeper.reflectors(rank(live, fp, rowPivot), live));
    }
    dropped = Math.hypot(dropped, qr.droppedNorm());
    flops += qr.flops();
    var columns = new ColumnStrips(matrix, ld, a.height, fn + rhsCount);
    pack(index, columns, live, rowPivot, crew);
    state.release(a.bytes);
    progress.accept(1);
  }

  private static int rank(int live, int fp, int[] pivots) {
    int rank = 0;
    while (rank < live && pivots[rank] < fp) {
      rank++;
    }
    return rank;
  }

  /** The result of a front of which so many rows are left, each with the column of its pivot. */
  private void pack(int index, ColumnStrips columns, int live, int[] pivots, Crew crew) {
    int f = state.front(index);
    int fp = state.analysis().fp(f);
    int rank = rank(live, fp, pivots);
    var packer = new FrontPacker(f, fp, state.analysis().fn(f), rhsCount, columns, pivots, crew);
    ContributionBlock block = packer.block(rank, live);
    state.hold(block == null ? 0 : bytes(block));
    FrontFactor factor = packer.factor(rank, state.memory());
    state.done(index, factor, block, squares, dropped, flops);
  }

  /** Factors a group by its Gram matrix; false if that is not accepted. */
  private boolean gram(int root, Crew crew) {
    int[] members = state.groups().members(root);
    GroupRows rows = state.groupRows(members);
    GramShape shape = rows.shape();
    if (!GramQr.fits(shape, rhsCount)) {
      return false;
    }
    double cost = 0;
    for (int i : members) {
      cost += state.groups().cost(i);
    }
    long bytes = GramQr.bytes(rows, shape, rhsCount);
    if (members.length > 1 && bytes > HEAP_SHARE * Runtime.getRuntime().maxMemory()) {
      return refused(members, cost, "it would take %,d MB of the heap".formatted(bytes >> 20));
    }
    double foretold = 0;
    for (int i : members) {
      foretold += state.analysis().frontFlops(state.front(i));
    }
    var progress = new FrontProgress(state.work(), foretold);
    var way = cost < SHARED_GRAM ? Crew.ALONE : crew;
    GramQr gram;
    state.hold(bytes);
    try {
      gram = tried(rows, progress, way);
      if (gram == null || !gram.isAccepted()) {
        toldBefore = progress.told();
        return refused(members, cost, gram == null ? "the heap was full" : gram.refused());
      }
      // R of all fronts stays until the last is packed.
      pack(gram, shape, members, way);
    } finally {
      state.release(bytes);
    }
    state.gram(new FactorSummary.Gram(members.length, 0, cost, gram.error()));
    System.arraycopy(gram.residualSquares(), 0, squares, 0, rhsCount);
    flops = state.groups().cost(root);
    dropped = gram.droppedNorm();
    root(root, gram, members.length - 1, way, progress);
    return true;
  }

  /**
   * The result of a group's root. A pivot that the rank test drops moves the rows below it, so that
   * its rows then go through the rank-revealing step.
   */
  private void root(int index, GramQr gram, int last, Crew crew, FrontProgress progress) {
    ColumnStrips rows = gram.rows(last);
    int height = gram.kept(last).length;
    if (gram.isSettled()) {
      long bytes = 8 * rows.length();
      state.hold(bytes);
      pack(index, rows, height, gram.kept(last), crew);
      state.release(bytes);
      progress.accept(1);
      return;
    }
    int ld = leadingDimension(Math.max(1, height));
    long length = StaircaseQr.length(ld, rows.columns());
    if (length > Integer.MAX_VALUE - 8) {
      throw tooBig(state.front(index), height, 8 * length, null);
    }
    double[] matrix;
    try {
      matrix = new double[(int) length];
    } catch (OutOfMemoryError e) {
      throw tooBig(state.front(index), height, 8 * length, e);
    }
    rows.copyTo(matrix, ld, height);
    var a = new Assembled(matrix, ld, height, gram.staircase(), 8 * length);
    state.hold(a.bytes);
    finish(index, a, crew, null, progress);
  }

  /** The result for a group; null: there was no memory for it. */
  private @Nullable GramQr tried(GroupRows rows, FrontProgress progress, Crew way) {
    try {
      return GramQr.factor(kernels, rows, rows.shape(), rhsCount, state.tolerance(), progress, way);
    } catch (OutOfMemoryError e) {
      // Reflectors need less: R leaves the heap front by front.
      return null;
    }
  }

  /** The results of all fronts of a group but the root; lets the blocks below the group go. */
  private void pack(GramQr gram, GramShape shape, int[] members, Crew way) {
    double[] none = new double[rhsCount];
    for (int k = 0; k < members.length; k++) {
      int f = state.front(members[k]);
      if (k < members.length - 1) {
        int[] rows = gram.kept(k);
        int fp = shape.pivots(k);
        int fn = fp + shape.tail(k);
        var packer = new FrontPacker(f, fp, fn, rhsCount, gram.rows(k), rows, way);
        FrontFactor factor = packer.factor(rows.length, state.memory());
        state.done(members[k], factor, null, none, 0, state.groups().cost(members[k]));
      }
      release(f);
    }
  }

  private boolean refused(int[] members, double cost, String why) {
    refusal = why;
    state.gram(new FactorSummary.Gram(members.length, members.length, cost, 0));
    return false;
  }

  /** Lets the blocks of a front's children go. */
  private void release(int f) {
    SymbolicAnalysis analysis = state.analysis();
    for (int c = 0; c < analysis.childCount(f); c++) {
      int child = analysis.child(f, c);
      ContributionBlock block = state.isOfTask(child) ? state.takeBlock(child) : null;
      if (block != null) {
        state.release(bytes(block));
      }
    }
  }

  private Assembled tall(int fn, Crew crew, @Nullable QKeeper keeper, FrontProgress progress) {
    long tallBytes = FrontMemory.hostBytes(assembly.layout().count(), fn, rhsCount);
    state.hold(tallBytes);
    TallQr tall = reduced(fn, crew, keeper, progress);
    if (keeper != null) {
      keeper.reduced(tall);
    }
    flops += tall.flops();
    System.arraycopy(tall.residualSquares(), 0, squares, 0, rhsCount);
    double[] matrix = tall.triangle();
    long bytes = 8L * matrix.length;
    state.release(tallBytes - bytes);
    return new Assembled(matrix, tall.triangleLd(), tall.held(), tall.staircase(), bytes);
  }

  private Assembled whole(int f, int fn, Crew crew) {
    FrontLayout layout = assembly.layout();
    int count = layout.count();
    int ld = leadingDimension(count);
    double[] matrix = workspace(f, StaircaseQr.length(ld, fn + rhsCount));
    assembly.scatter(matrix, ld, fn, crew);
    long bytes = 8L * ld * (fn + rhsCount + 1);
    state.hold(bytes);
    return new Assembled(matrix, ld, Math.min(count, ld), layout.stair(), bytes);
  }

  private TallQr reduced(int fn, Crew crew, @Nullable QKeeper keeper, FrontProgress progress) {
    var tall = new TallQr(kernels, fn, rhsCount, TallQr.capacity(fn, rhsCount));
    if (keeper != null) {
      tall.keepReflectors();
    }
    FrontLayout layout = assembly.layout();
    int[] order = layout.sortedOrder();
    double all = 1;
    for (int i : order) {
      all += work(fn, layout.leftmost(i));
    }
    double merged = 0;
    double came = 0;
    for (int k = 0; k < order.length; k++) {
      int at = tall.open(layout.leftmost(order[k]));
      assembly.scatterOne(order[k], tall.chunk(), tall.ld(), fn, at);
      came += work(fn, layout.leftmost(order[k]));
      if (tall.isFull() || k == order.length - 1) {
        double before = merged;
        double chunk = came - merged;
        double total = all;
        tall.heardBy(part -> progress.accept((before + part * chunk) / total));
        tall.reduce(crew);
        merged = came;
      }
    }
    tall.close();
    return tall;
  }

  /** Flops of a row, up to a constant factor. */
  private double work(int fn, int leftmost) {
    double length = fn - leftmost;
    return length * (length + 2 * rhsCount);
  }

  /** A zeroed array of at least this length. */
  private double[] workspace(int f, long entries) {
    if (entries > Integer.MAX_VALUE - 8) {
      throw tooBig(f, assembly.layout().count(), 8 * entries, null);
    }
    int length = (int) entries;
    if (length <= kept.length) {
      Arrays.fill(kept, 0, length, 0);
      return kept;
    }
    if (length > KEPT_ENTRIES) {
      return new double[length];
    }
    kept = new double[(int) Math.min(KEPT_ENTRIES, 2L * length)];
    return kept;
  }

  /** Leading dimensions that are multiples of 4096 bytes thrash the cache. */
  private static int leadingDimension(int count) {
    return count > 0 && count % 512 == 0 ? count + 8 : count;
  }

  private static long bytes(ContributionBlock block) {
    return 8L * (block.values().length + block.rhs().length);
  }

  private InsufficientMemoryException tooBig(
      int f, int rows, long bytes, @Nullable OutOfMemoryError cause) {
    long most = Runtime.getRuntime().maxMemory();
    String why = cause == null ? "more than a Java array holds" : "heap limit " + most + " bytes";
    if (!refusal.isEmpty()) {
      why += "; its Gram matrix was not taken: " + refusal;
    }
    var e =
        new InsufficientMemoryException(
            "front " + f + " (" + rows + " rows) needs " + bytes + " bytes: " + why, bytes, most);
    if (cause != null) {
      e.initCause(cause);
    }
    return e;
  }
}
