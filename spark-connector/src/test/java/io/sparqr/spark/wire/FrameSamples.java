/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.matrix.Triplets;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.ContributionRhs;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.PlanFrames;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RhsRouter;
import io.sparqr.spark.stored.FactorChunk;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Right frames of every kind, with the code that decodes them. */
final class FrameSamples {

  /**
   * Frames that are decoded together.
   *
   * @param decode throws a WireFormatException or reads all there is
   * @param more bytes that decoding may make room for whatever the frames are
   */
  record Sample(String name, List<byte[]> frames, Consumer<List<byte[]>> decode, long more) {}

  /** A partition's message, as the passes send it. */
  record Said(int partition, Fingerprint found, double[] max, SparseQrException error)
      implements Serializable {}

  /** A reducer's message. */
  record Reduced(long patterns, byte[][] frames, byte[][] none) implements Serializable {}

  /** Memory for the classes of an exception, their streams and their stack, needed once. */
  private static final long ERROR = 32 << 10;

  /** Java's streams have buffers, and room for the fields that a class says it has. */
  private static final long STREAM = 512 << 10;

  private final Random random;
  private final List<Sample> samples = new ArrayList<>();

  private FrameSamples(long seed) {
    random = new Random(seed);
  }

  static List<Sample> all(long seed) throws IOException {
    var s = new FrameSamples(seed);
    s.rows();
    s.blocks();
    s.factor();
    s.reflectors();
    s.vectors();
    s.rowValues();
    s.patternsAndEntries();
    s.objects();
    s.plansAndReports();
    return s.samples;
  }

  private void one(String name, byte[] frame, Consumer<byte[]> decode) {
    samples.add(new Sample(name, List.of(frame), f -> decode.accept(f.get(0)), ERROR));
  }

  private double[] values(int n) {
    return random.doubles(n, -1, 1).toArray();
  }

  private void rows() {
    for (int rhs : new int[] {0, 1, 3}) {
      var frames = new ArrayList<byte[]>();
      for (int k = 0; k < 3; k++) {
        var b = new RowBatchCodec.Builder(rhs);
        for (int i = 0; i < 4 + 20 * k; i++) {
          int[] position = random.ints(5, 0, 200).distinct().sorted().toArray();
          b.add(i % 3 - 1, position, values(5), 0, position.length, values(rhs), 0);
        }
        frames.add(b.take(k / 2, k));
      }
      samples.add(new Sample("ROWS", frames, f -> RowBatchCodec.decode(f, rhs, 2), ERROR));
    }
  }

  private void blocks() {
    for (int chunk : new int[] {1000, 30, 7}) {
      int cm = 7;
      int cn = 11;
      double[] packed = values((int) ContributionBlock.packedLength(cm, cn));
      var frames = new ArrayList<byte[]>();
      frames.addAll(
          new BlockCodec(chunk)
              .encode(new ContributionBlock(5, cm, cn, packed, values(2 * cm), 2)));
      frames.addAll(
          new BlockCodec(chunk).encode(new ContributionBlock(2, 0, 3, values(0), values(0), 2)));
      samples.add(new Sample("BLOCK", frames, f -> BlockCodec.decode(f.iterator()), ERROR));
    }
  }

  private void factor() {
    for (int rhs : new int[] {0, 2}) {
      var factors = new ArrayDeque<FrontFactor>();
      for (int f = 0; f < 4; f++) {
        int[] live = f == 2 ? new int[] {0, 2, 5} : new int[] {0, 1};
        int fn = 6 + f;
        int length = Arrays.stream(live).map(k -> fn - k).sum();
        factors.add(new FrontFactor(f, fn, live, values(length), values(rhs * live.length), rhs));
      }
      FactorChunk.encode(factors, rhs, 1, 400)
          .forEachRemaining(frame -> one("FACTOR", frame, FrameSamples::walk));
    }
  }

  private static void walk(byte[] frame) {
    FactorChunk chunk = FactorChunk.open(frame);
    for (int s = 0; s < chunk.segments(); s++) {
      FactorChunk.Segment segment = chunk.segment(s);
      // the memory of a solve follows from the plan, and fits only this plan
      double[] into = segment.fn() > 100 ? null : new double[segment.fn()];
      for (int i = 0; i < segment.rows(); i++) {
        if (into != null) {
          segment.row(i, into);
        }
        for (int k = 0; k < chunk.rhsCount(); k++) {
          segment.rhs(i, k);
        }
      }
    }
  }

  private void reflectors() {
    var fronts = new ArrayList<FrontReflectors>();
    for (int f = 2; f < 5; f++) {
      int n = 5 + f;
      var block =
          new ReflectorBlock(
              new int[] {0, n},
              new int[] {0, 1, 1},
              new int[] {n, n - 1, 1},
              values(3),
              values(2 * n - 3));
      fronts.add(
          new FrontReflectors(
              f,
              n,
              new int[] {2, 3},
              new FrontReflectors.ChildRows(
                  new int[] {f - 2, f - 1}, new int[] {0, 1, 2}, new int[] {0, 1}),
              new int[] {0, 3},
              new boolean[] {true, false},
              new int[] {1, 0, 4},
              List.of(block)));
    }
    var nobody =
        new ReflectorCodec.Visitor() {
          @Override
          public void front(FrontReflectors front) {}

          @Override
          public void block(ReflectorBlock block) {}
        };
    for (int limit : new int[] {1, 300, 1 << 20}) {
      byte[] frame = ReflectorCodec.encode(new ArrayList<>(fronts), limit, 8).get(0);
      one("REFLECTORS", frame, f -> ReflectorCodec.read(f, nobody));
    }
    var blocks = List.of(new ContributionRhs(7, values(6)), new ContributionRhs(8, values(3)));
    var part = new ReflectedCodec.Reflected(3, new int[] {4, 9}, values(6), values(3), blocks);
    one("REFLECTED", ReflectedCodec.encode(part), ReflectedCodec::decode);
  }

  private void vectors() {
    var frames = new ArrayList<byte[]>();
    for (int p = 0; p < 3; p++) {
      frames.add(VectorCodec.encodeChunk(p, p / 2, values(40), 3, 33 + p));
    }
    // the sums themselves are 64 KiB a chunk, and there is a table of the chunks that can be
    samples.add(
        new Sample(
            "CHUNK",
            frames,
            f -> ColumnChunks.merge(new ArrayList<>(f), Double::sum),
            3 * 65536 + (1 << 20) + ERROR));
    var sparse = new VectorCodec.Sparse(new int[] {1, 5, 8}, values(6), 2);
    one("SPARSE", VectorCodec.encodeSparse(sparse), VectorCodec::decodeSparse);
    one("SOLUTION", VectorCodec.encodeSolution(sparse, 3), VectorCodec::decodeSolution);
    one(
        "LEVERAGE",
        LeverageCodec.encode(3, new int[] {9, 0, 4, 7}, values(4), 1, 4),
        f -> LeverageCodec.decode(f, new double[10]));
    one("INVERSE", InverseCodec.encode(2, 4, 3, values(6)), f -> InverseCodec.decode(f, 3));
  }

  private void rowValues() {
    one(
        "ROW_VALUES",
        RowValuesCodec.encode(3, new int[] {9, 0, 4, 7}, values(8), 2, 1, 4),
        f -> RowValuesCodec.decode(f, 2, new double[10][]));
    one(
        "ROW_VALUES, none",
        RowValuesCodec.rows(3, 10),
        f -> RowValuesCodec.decode(f, 2, new double[10][]));
  }

  private void patternsAndEntries() {
    var patterns =
        new PatternCodec.Patterns(
            new long[] {1L << 40, 2, 9}, new int[] {0, 0, 3, 5}, new int[] {1, 2, 9, 0, 7});
    one("PATTERN", PatternCodec.encode(0, patterns), PatternCodec::decode);
    int[] row = {0, 1, 1, 5};
    int[] column = {3, 0, 2, 1};
    for (double[] v : new double[][] {null, values(4)}) {
      one(
          "ENTRIES",
          EntryCodec.encode(3, 1, row, column, v, 4),
          f -> EntryCodec.decode(f, new Triplets()));
    }
    one(
        "ENTRIES, summary",
        EntryCodec.encode(new EntryCodec.Summary(3, 40, 41, true, false, true)),
        EntryCodec::decodeSummary);
    var change = new InputChangedException("partition 3: größer", 3, 10, 9, 20, -1);
    one("CHANGE", ChangeCodec.encode(change), ChangeCodec::decode);
  }

  private void objects() {
    var print = new Fingerprint(1, 2, random.nextLong(), random.nextLong(), 3, 4);
    var error = new MatrixFormatException("a.mtx:7: 'x' is no number", "a.mtx", 7);
    error.initCause(new IOException("a disk"));
    object(new Said(3, print, values(5), null), Said.class);
    object(new Said(3, print, values(0), error), Said.class);
    byte[][] frames = {new byte[40], new byte[0]};
    object(new Reduced(3, frames, null), Reduced.class);
    object(new RhsRouter.Part(3, 4, 2, values(2)), RhsRouter.Part.class);
  }

  private <T extends Record & Serializable> void object(T value, Class<T> type) {
    byte[] frame = ObjectCodec.encode(value);
    samples.add(
        new Sample(
            "OBJECT", List.of(frame), f -> ObjectCodec.decode(f.get(0), type), ERROR + STREAM));
  }

  private void plansAndReports() {
    for (byte[] frame : PlanFrames.frames()) {
      one("PLAN", frame, PlanFrames::decode);
    }
    List<String> warnings = List.of("first", "", "dritte: ü");
    var summary =
        new FactorSummary(
            "cuda",
            "H200 ½",
            new FactorSummary.Work(1, 2, 3.5, 12.5, 13.5),
            new FactorSummary.DeviceUse(4, 5, 6, 7, 8, 9),
            new FactorSummary.Gram(30, 31, 32.5, 33.5),
            10,
            new FactorSummary.Check(14.5, 15),
            warnings);
    var bytes = new TaskReport.Bytes(17, 18, 19, new SolveReport.FactorBytes(20, 21, 22, 23));
    var report =
        new TaskReport(3, summary, new double[] {1, 2}, 16, new int[] {4, 9}, bytes, "why");
    one("TASK", report.encode(), TaskReport::decode);
  }
}
