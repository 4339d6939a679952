/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.WireFormatException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.NumberFrame;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;

/**
 * A {@link SolvePlan} as a frame: the analysis, the cut, the scales, the numbers, the fingerprints
 * of the rows, in this order. What follows from these is not sent. About 24 bytes a column and 60 a
 * front.
 */
final class PlanCodec {

  /** Of a task without fronts: id, level, three lengths, worker, flops, bytes. */
  private static final int LEAST_TASK_BYTES = 6 * Integer.BYTES + 2 * Long.BYTES;

  private static final int FINGERPRINT_BYTES = 6 * Long.BYTES;

  private PlanCodec() {}

  static byte[] encode(SolvePlan plan) {
    var out = new NumberFrame.Writer();
    put(plan.analysis().data(), out);
    put(plan.partition(), out);
    out.putDoubles(plan.columnScales()).putDoubles(plan.rhsScales());
    put(plan.numbers(), out);
    Readings readings = plan.readings();
    out.putInt(readings.partitions());
    for (int p = 0; p < readings.partitions(); p++) {
      put(readings.of(p), out);
    }
    return out.seal(Frame.Kind.PLAN);
  }

  /**
   * The inverse of {@link #encode}.
   *
   * @throws WireFormatException if the frame is damaged
   */
  static SolvePlan decode(byte[] frame) {
    var in = new NumberFrame.Reader(frame, Frame.Kind.PLAN);
    try {
      SymbolicAnalysis.Data data = data(in);
      require(data);
      var analysis = new SymbolicAnalysis(data);
      TreePartition partition = partition(in);
      require(partition, analysis.fronts());
      double[] columnScale = in.getDoubles();
      double[] rhsScale = in.getDoubles();
      SolvePlan.Numbers numbers = numbers(in);
      int partitions = in.getCount(FINGERPRINT_BYTES);
      var readings = new ArrayList<Fingerprint>();
      for (int p = 0; p < partitions; p++) {
        readings.add(fingerprint(in));
      }
      in.end();
      require(columnScale.length == analysis.columns() && rhsScale.length == numbers.rhsCount());
      var of = new Readings(readings);
      return new SolvePlan(analysis, partition, columnScale, rhsScale, numbers, of);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new WireFormatException("a plan that is none: " + e.getMessage(), "plan");
    }
  }

  /** Sizes and ranges: what follows from the tables is walked through, and indexed, by them. */
  private static void require(SymbolicAnalysis.Data d) {
    int n = d.permutation().size();
    int nf = d.parent().length;
    require(d.pattern().columns() == n && d.leftmostCount().length == n);
    require(d.firstPivot().length == nf + 1 && d.tailStart().length == nf + 1);
    require(d.fm().length == nf && d.cm().length == nf && d.frontFlops().length == nf);
    require(d.singletons() >= 0 && d.firstPivot()[nf] <= n && d.firstPivot()[0] >= 0);
    require(d.tailStart()[0] == 0 && d.tailStart()[nf] == d.tailColumns().length);
    for (int f = 0; f < nf; f++) {
      require(d.firstPivot()[f] <= d.firstPivot()[f + 1]);
      require(d.tailStart()[f] <= d.tailStart()[f + 1]);
    }
    requireInside(d.tailColumns(), n);
  }

  private static void require(TreePartition partition, int fronts) {
    require(partition.taskOfFront().length == fronts);
    requireInside(partition.taskOfFront(), partition.tasks().size());
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

  private static void put(SymbolicAnalysis.Data d, NumberFrame.Writer out) {
    out.putInt(d.pattern().columns()).putLong(d.pattern().rows());
    out.putLong(d.pattern().first()).putLong(d.pattern().second());
    out.putLong(d.rows()).putLong(d.emptyRows()).putLong(d.nonzeros());
    out.putInts(d.permutation().toArray());
    out.putInt(d.singletons()).putLong(d.singletonEntries());
    out.putInt(d.orderingUsed().ordinal()).putText(d.orderingReason());
    out.putInts(d.firstPivot()).putInts(d.parent());
    out.putLongs(d.tailStart()).putInts(d.tailColumns());
    out.putLongs(d.leftmostCount()).putLongs(d.fm()).putLongs(d.cm());
    out.putDoubles(d.frontFlops()).putDouble(d.orderSeconds()).putDouble(d.analyzeSeconds());
  }

  private static SymbolicAnalysis.Data data(NumberFrame.Reader in) {
    return new SymbolicAnalysis.Data(
        new SparsityPattern.Fingerprint(in.getInt(), in.getLong(), in.getLong(), in.getLong()),
        in.getLong(),
        in.getLong(),
        in.getLong(),
        new Permutation(in.getInts()),
        in.getInt(),
        in.getLong(),
        in.getOneOf(OrderingMethod.values()),
        in.getText(),
        in.getInts(),
        in.getInts(),
        in.getLongs(),
        in.getInts(),
        in.getLongs(),
        in.getLongs(),
        in.getLongs(),
        in.getDoubles(),
        in.getDouble(),
        in.getDouble());
  }

  private static void put(TreePartition p, NumberFrame.Writer out) {
    out.putInt(p.tasks().size());
    for (SubtreeTask t : p.tasks()) {
      out.putInt(t.id()).putInt(t.level());
      out.putInts(t.fronts()).putInts(t.inputs()).putInts(t.outputs());
      out.putInt(t.worker()).putDouble(t.flops()).putLong(t.peakBytes());
    }
    out.putInt(p.levels()).putInts(p.taskOfFront());
    out.putDouble(p.estimatedSeconds()).putDouble(p.lowerBoundSeconds());
  }

  private static TreePartition partition(NumberFrame.Reader in) {
    int count = in.getCount(LEAST_TASK_BYTES);
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
              in.getLong()));
    }
    return new TreePartition(tasks, in.getInt(), in.getInts(), in.getDouble(), in.getDouble());
  }

  private static void put(SolvePlan.Numbers n, NumberFrame.Writer out) {
    out.putInt(n.rhsCount()).putDouble(n.tolerance()).putDouble(n.ridge());
    out.putBoolean(n.devices().use()).putBoolean(n.devices().required());
    out.putText(n.devices().reason());
    out.putLong(n.deviceMemoryBytes()).putBoolean(n.local()).putBoolean(n.keepQ());
    out.putBoolean(n.equilibrated()).putDouble(n.combineFlops());
  }

  private static SolvePlan.Numbers numbers(NumberFrame.Reader in) {
    return new SolvePlan.Numbers(
        in.getInt(),
        in.getDouble(),
        in.getDouble(),
        verdict(in.getBoolean(), in.getBoolean(), in.getText()),
        in.getLong(),
        in.getBoolean(),
        in.getBoolean(),
        in.getBoolean(),
        in.getDouble());
  }

  private static DeviceVerdict verdict(boolean use, boolean required, String reason) {
    return use ? new DeviceVerdict.Use(required, reason) : new DeviceVerdict.Refuse(reason);
  }

  private static void put(Fingerprint f, NumberFrame.Writer out) {
    out.putLong(f.rows()).putLong(f.nonzeros()).putLong(f.entries());
    out.putLong(f.weights()).putLong(f.labels()).putLong(f.unordered());
  }

  private static Fingerprint fingerprint(NumberFrame.Reader in) {
    return new Fingerprint(
        in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong());
  }
}
