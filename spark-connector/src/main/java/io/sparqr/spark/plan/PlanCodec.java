/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.WireFormatException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.NumberStream;
import io.sparqr.sparse.CompactLongs;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.TileModel;
import io.sparqr.symbolic.Tuning;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A {@link SolvePlan} as a stream of frames: the analysis, the cut, the scales, the numbers, the
 * fingerprints of the rows, the tuning of devices, in this order; plans of earlier versions have no
 * tuning, which means the constants. Data that can be derived from these are not sent. Takes about
 * 13 bytes per column (4 for its position in the order, 8 for its scale), 6 per front and 1 to 4
 * per entry of the fronts' column lists; Spark compresses them further. At most one frame is in
 * memory at a time.
 */
public final class PlanCodec {

  private PlanCodec() {}

  /**
   * Writes a plan.
   *
   * @throws IOException if the sink throws it
   */
  public static void write(SolvePlan plan, NumberStream.Sink sink) throws IOException {
    var out = new NumberStream.Writer(Frame.Kind.PLAN, sink);
    out.putLong(plan.analysis().id());
    put(plan.analysis().data(), out);
    put(plan.partition(), out);
    out.putDoubles(plan.columnScales()).putDoubles(plan.rhsScales());
    put(plan.numbers(), out);
    Readings readings = plan.readings();
    out.putLong(readings.partitions());
    for (int p = 0; p < readings.partitions(); p++) {
      put(readings.of(p), out);
    }
    put(plan.numbers().fronts().tuned(), out);
    out.end();
  }

  /**
   * The inverse of {@link #write}.
   *
   * @throws WireFormatException if a frame is damaged, or the frames do not contain a plan
   * @throws IOException if the source throws it
   */
  public static SolvePlan read(NumberStream.Source source) throws IOException {
    var in = new NumberStream.Reader(Frame.Kind.PLAN, source);
    try {
      long id = in.getLong();
      SymbolicAnalysis.Data data = data(in);
      require(data);
      var analysis = new SymbolicAnalysis(data, id);
      TreePartition partition = partition(in, analysis.fronts());
      require(partition, analysis.fronts());
      double[] columnScale = in.getDoubles();
      double[] rhsScale = in.getDoubles();
      SolvePlan.Numbers numbers = numbers(in);
      int partitions = in.getLength();
      var readings = new ArrayList<Fingerprint>();
      for (int p = 0; p < partitions; p++) {
        readings.add(fingerprint(in));
      }
      if (in.hasMore()) {
        numbers = numbers.tuned(tuned(in));
      }
      in.end();
      numbers.ridge().requireColumns(analysis.columns());
      require(columnScale.length == analysis.columns() && rhsScale.length == numbers.rhsCount());
      var of = new Readings(readings);
      return new SolvePlan(analysis, partition, columnScale, rhsScale, numbers, of);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new WireFormatException("not a plan: " + e.getMessage(), "plan");
    }
  }

  /**
   * Checks sizes and ranges, because derived data are computed by loops over the tables and by
   * indices from them.
   */
  private static void require(SymbolicAnalysis.Data d) {
    int n = d.permutation().size();
    int nf = d.parent().length;
    require(d.input().pattern().columns() == n && d.leftmostCount().size() == n);
    require(d.firstPivot().length == nf + 1 && d.tailStart().length == nf + 1);
    require(d.fm().size() == nf && d.frontFlops().size() == nf);
    require(d.order().singletons() >= 0 && d.firstPivot()[nf] <= n && d.firstPivot()[0] >= 0);
    require(d.tailStart()[0] == 0 && d.tailStart()[nf] == d.tailColumns().length);
    for (int f = 0; f < nf; f++) {
      require(d.firstPivot()[f] <= d.firstPivot()[f + 1]);
      require(d.tailStart()[f] <= d.tailStart()[f + 1]);
    }
    requireInside(d.tailColumns(), n);
  }

  private static void require(TreePartition partition, int fronts) {
    require(partition.taskOfFront().size() == fronts);
    for (int f = 0; f < fronts; f++) {
      require(partition.taskOf(f) >= 0 && partition.taskOf(f) < partition.tasks().size());
    }
    for (SubtreeTask t : partition.tasks()) {
      require(t.level() >= 0 && t.level() < partition.levels());
      requireInside(t.fronts(), fronts);
      requireInside(t.inputs(), fronts);
      requireInside(t.outputs(), fronts);
    }
  }

  private static void requireInside(int[] values, int end) {
    for (int v : values) {
      require(v >= 0 && v < end);
    }
  }

  private static void require(boolean right) {
    if (!right) {
      throw new WireFormatException("a plan whose tables do not fit together", "plan");
    }
  }

  private static void put(SymbolicAnalysis.Data d, NumberStream.Writer out) throws IOException {
    SymbolicAnalysis.Input input = d.input();
    out.putInt(input.pattern().columns()).putLong(input.pattern().rows());
    out.putLong(input.pattern().first()).putLong(input.pattern().second());
    out.putLong(input.rows()).putLong(input.emptyRows()).putLong(input.nonzeros());
    SymbolicAnalysis.Order order = d.order();
    out.putInts(order.permutation().size(), order.permutation()::original);
    out.putInt(order.singletons()).putLong(order.singletonEntries());
    out.putInt(order.used().ordinal()).putText(order.reason());
    SymbolicAnalysis.Tree tree = d.tree();
    int nf = tree.parent().length;
    out.putInts(tree.firstPivot());
    // The difference from the front's own number, which is mostly small.
    out.putInts(nf, f -> tree.parent()[f] - f);
    out.putInts(tree.tailStart()).putInts(tree.tailColumns());
    put(d.counts().leftmostCount(), out);
    put(d.counts().fm(), out);
    put(d.counts().frontFlops(), out);
    out.putLong(d.counts().gramBytes());
    out.putDouble(d.seconds().order()).putDouble(d.seconds().analyze());
  }

  private static void put(CompactLongs values, NumberStream.Writer out) throws IOException {
    out.putLongs(values.size(), values::get);
  }

  private static int[] parents(int[] above) {
    for (int f = 0; f < above.length; f++) {
      above[f] += f;
    }
    return above;
  }

  private static SymbolicAnalysis.Data data(NumberStream.Reader in) throws IOException {
    return new SymbolicAnalysis.Data(
        new SymbolicAnalysis.Input(
            new SparsityPattern.Fingerprint(in.getInt(), in.getLong(), in.getLong(), in.getLong()),
            in.getLong(),
            in.getLong(),
            in.getLong()),
        new SymbolicAnalysis.Order(
            new Permutation(in.getInts()),
            in.getInt(),
            in.getLong(),
            in.getOneOf(OrderingMethod.values()),
            in.getText()),
        new SymbolicAnalysis.Tree(in.getInts(), parents(in.getInts()), in.getInts(), in.getInts()),
        new SymbolicAnalysis.Counts(
            CompactLongs.of(in.getLongs()),
            CompactLongs.of(in.getLongs()),
            CompactLongs.of(in.getLongs()),
            in.getLong()),
        new SymbolicAnalysis.Seconds(in.getDouble(), in.getDouble()));
  }

  private static void put(TreePartition p, NumberStream.Writer out) throws IOException {
    out.putLong(p.tasks().size());
    for (SubtreeTask t : p.tasks()) {
      out.putInt(t.id()).putInt(t.level());
      out.putInts(t.fronts()).putInts(t.inputs()).putInts(t.outputs());
      out.putInt(t.worker()).putDouble(t.flops());
      out.putLong(t.peakBytes()).putLong(t.hostBytes());
    }
    out.putInt(p.levels());
    out.putDouble(p.estimatedSeconds()).putDouble(p.lowerBoundSeconds());
  }

  private static TreePartition partition(NumberStream.Reader in, int fronts) throws IOException {
    int count = in.getLength();
    var tasks = new ArrayList<SubtreeTask>();
    for (int t = 0; t < count; t++) {
      tasks.add(
          new SubtreeTask(
              in.getInt(),
              in.getInt(),
              in.getInts(),
              in.getInts(),
              in.getInts(),
              in.getInt(),
              in.getDouble(),
              in.getLong(),
              in.getLong()));
    }
    int levels = in.getInt();
    return new TreePartition(tasks, levels, owners(tasks, fronts), in.getDouble(), in.getDouble());
  }

  /** The task of each front. */
  private static int[] owners(List<SubtreeTask> tasks, int fronts) {
    int[] task = new int[fronts];
    Arrays.fill(task, -1);
    for (int t = 0; t < tasks.size(); t++) {
      for (int f : tasks.get(t).fronts()) {
        require(f >= 0 && f < fronts && task[f] < 0);
        task[f] = t;
      }
    }
    return task;
  }

  private static void put(SolvePlan.Numbers n, NumberStream.Writer out) throws IOException {
    out.putInt(n.rhsCount()).putDouble(n.tolerance());
    out.putBoolean(n.ridge().uniform()).putDoubles(n.ridge().lambdas());
    out.putBoolean(n.devices().use()).putBoolean(n.devices().required());
    out.putText(n.devices().reason());
    out.putLong(n.deviceMemoryBytes()).putBoolean(n.local());
    out.putBoolean(n.fronts().keepQ()).putBoolean(n.fronts().gram());
    out.putBoolean(n.equilibrated()).putDouble(n.combineFlops());
  }

  private static SolvePlan.Numbers numbers(NumberStream.Reader in) throws IOException {
    return new SolvePlan.Numbers(
        in.getInt(),
        in.getDouble(),
        ridge(in.getBoolean(), in.getDoubles()),
        verdict(in.getBoolean(), in.getBoolean(), in.getText()),
        in.getLong(),
        in.getBoolean(),
        new SolvePlan.Fronts(in.getBoolean(), in.getBoolean()),
        in.getBoolean(),
        in.getDouble());
  }

  private static void put(PlannedTuning tuned, NumberStream.Writer out) throws IOException {
    Tuning t = tuned.tuning();
    TileBundles b = t.tiles().bundles();
    out.putInt(b.tall()).putInt(b.narrow()).putInt(b.much()).putInt(b.others());
    out.putInt(t.tiles().smallFrontDoubles()).putInt(t.tiles().smallFrontColumns());
    out.putBoolean(t.pipelining()).putInt(t.applyTasks()).putInt(t.applyTiles());
    out.putInt(t.chunkDoubles()).putText(tuned.origin());
  }

  private static PlannedTuning tuned(NumberStream.Reader in) throws IOException {
    var bundles = new TileBundles(in.getInt(), in.getInt(), in.getInt(), in.getInt());
    var tiles = new TileModel(bundles, in.getInt(), in.getInt());
    var tuning = new Tuning(tiles, in.getBoolean(), in.getInt(), in.getInt(), in.getInt());
    return new PlannedTuning(tuning, in.getText());
  }

  private static Ridge ridge(boolean uniform, double[] lambdas) {
    require(!uniform || lambdas.length == 1);
    return Ridge.read(lambdas, uniform);
  }

  private static DeviceVerdict verdict(boolean use, boolean required, String reason) {
    return use ? new DeviceVerdict.Use(required, reason) : new DeviceVerdict.Refuse(reason);
  }

  private static void put(Fingerprint f, NumberStream.Writer out) throws IOException {
    out.putLong(f.rows()).putLong(f.nonzeros()).putLong(f.entries());
    out.putLong(f.weights()).putLong(f.labels()).putLong(f.unordered());
  }

  private static Fingerprint fingerprint(NumberStream.Reader in) throws IOException {
    return new Fingerprint(
        in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong());
  }
}
