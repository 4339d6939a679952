/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.report.SolveReport.FactorBytes;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.Frame;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The report of a subtree task to the driver.
 *
 * @param task its id
 * @param summary of its factorization
 * @param residualSquares size rhsCount: squares of the components that end in this task
 * @param entries number of stored values of R
 * @param dead positions of dead pivot columns, ascending
 * @param bytes received, passed on and kept
 * @param backendReason the reason for the backend
 */
public record TaskReport(
    int task,
    FactorSummary summary,
    double[] residualSquares,
    long entries,
    int[] dead,
    Bytes bytes,
    String backendReason) {

  /**
   * What a task received, passed on and keeps, in bytes.
   *
   * @param in rows and blocks received by shuffle
   * @param blocks contribution blocks passed on
   * @param reflectors stored Q
   * @param factor where R is
   */
  public record Bytes(long in, long blocks, long reflectors, FactorBytes factor) {}

  /** Bytes of the numbers, and of the lengths of arrays and lists. */
  private static final int FIXED = 4 * Integer.BYTES + 26 * Long.BYTES;

  /**
   * Encodes the report as a frame: numbers with all their bytes, arrays and texts after their
   * lengths. Saved factorizations have such frames in their files ({@code StoredPart}).
   */
  public byte[] encode() {
    List<byte[]> texts =
        Stream.concat(
                Stream.of(summary.backend(), summary.device(), backendReason),
                summary.warnings().stream())
            .map(text -> text.getBytes(StandardCharsets.UTF_8))
            .toList();
    long size = FIXED + 8L * residualSquares.length + 4L * dead.length;
    size += texts.stream().mapToLong(text -> Integer.BYTES + text.length).sum();
    ByteBuffer b = Frame.allocate(Frame.Kind.TASK, 0, 0, 0, 0, size);
    b.putInt(task);
    put(summary, texts, b);
    b.putInt(residualSquares.length);
    Frame.putDoubles(b, residualSquares, 0, residualSquares.length);
    b.putLong(entries).putInt(dead.length);
    Frame.putInts(b, dead, 0, dead.length);
    put(bytes, b);
    Frame.putText(b, texts.get(2));
    return Frame.seal(b);
  }

  /**
   * The inverse of {@link #encode}.
   *
   * @throws io.sparqr.error.WireFormatException if the frame is damaged or of another kind
   */
  public static TaskReport decode(byte[] frame) {
    ByteBuffer b = Frame.open(frame, Frame.Kind.TASK);
    var report =
        new TaskReport(
            Frame.getInt(b),
            summary(b),
            Frame.getDoubles(b, Frame.getInt(b)),
            Frame.getLong(b),
            Frame.getInts(b, Frame.getInt(b)),
            bytes(b),
            Frame.getText(b));
    Frame.end(b);
    return report;
  }

  /**
   * The report at the beginning of what a task has left.
   *
   * @throws IllegalStateException if it is something else
   */
  public static TaskReport of(TaskOutput first) {
    if (first instanceof TaskOutput.Report report) {
      return decode(report.frame());
    }
    throw new IllegalStateException(first.getClass() + " where a task's report should be");
  }

  private static void put(Bytes bytes, ByteBuffer b) {
    FactorBytes factor = bytes.factor;
    b.putLong(bytes.in).putLong(bytes.blocks).putLong(bytes.reflectors);
    b.putLong(factor.device()).putLong(factor.memory());
    b.putLong(factor.file()).putLong(factor.blocks());
  }

  private static Bytes bytes(ByteBuffer b) {
    return new Bytes(
        Frame.getLong(b),
        Frame.getLong(b),
        Frame.getLong(b),
        new FactorBytes(Frame.getLong(b), Frame.getLong(b), Frame.getLong(b), Frame.getLong(b)));
  }

  private static void put(FactorSummary s, List<byte[]> texts, ByteBuffer b) {
    Frame.putText(b, texts.get(0));
    Frame.putText(b, texts.get(1));
    b.putLong(s.fronts()).putLong(s.rank());
    b.putDouble(s.flopsDone()).putLong(s.stages()).putLong(s.rounds()).putLong(s.tasks());
    b.putLong(s.h2dBytes()).putLong(s.d2hBytes());
    b.putLong(s.peakDeviceBytes()).putLong(s.peakHostBytes());
    b.putDouble(s.factorSeconds()).putDouble(s.droppedNorm());
    b.putLong(s.gram().tried()).putLong(s.gram().refused());
    b.putDouble(s.gram().flops()).putDouble(s.gram().error());
    b.putDouble(s.normDeparture()).putLong(s.redoneTasks()).putInt(s.warnings().size());
    texts.subList(3, texts.size()).forEach(text -> Frame.putText(b, text));
  }

  private static FactorSummary summary(ByteBuffer b) {
    String backend = Frame.getText(b);
    String device = Frame.getText(b);
    long fronts = Frame.getLong(b);
    long rank = Frame.getLong(b);
    double flops = Frame.getDouble(b);
    var use =
        new FactorSummary.DeviceUse(
            Frame.getLong(b),
            Frame.getLong(b),
            Frame.getLong(b),
            Frame.getLong(b),
            Frame.getLong(b),
            Frame.getLong(b));
    long peakHostBytes = Frame.getLong(b);
    var work = new FactorSummary.Work(fronts, rank, flops, Frame.getDouble(b), Frame.getDouble(b));
    var gram =
        new FactorSummary.Gram(
            Frame.getLong(b), Frame.getLong(b), Frame.getDouble(b), Frame.getDouble(b));
    var check = new FactorSummary.Check(Frame.getDouble(b), Frame.getLong(b));
    return new FactorSummary(backend, device, work, use, gram, peakHostBytes, check, texts(b));
  }

  private static List<String> texts(ByteBuffer b) {
    int count = Frame.getInt(b);
    // Each takes at least its length.
    Frame.need(b, (long) Integer.BYTES * count);
    var texts = new ArrayList<String>();
    for (int k = 0; k < count; k++) {
      texts.add(Frame.getText(b));
    }
    return texts;
  }
}
