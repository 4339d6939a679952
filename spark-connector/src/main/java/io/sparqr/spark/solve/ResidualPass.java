/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.resource.Exchange;
import io.sparqr.spark.resource.Held;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.resource.Parts;
import io.sparqr.spark.rows.LaterReading;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.VectorCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import scala.Tuple2;

/**
 * One pass over the rows for r = sqrt(W)(b - A x), A' sqrt(W) r and their norms, the ridge's rows
 * included. Sums are taken within partitions in row order and over partitions in partition order:
 * the same bits on every run. One Spark job of two stages, or of one where all tasks are in the
 * driver's JVM: then their vectors are summed where they are. Every pass must find the same rows as
 * the earlier ones.
 */
public final class ResidualPass {

  /** The vectors of a pass in one JVM may take this fraction of its heap, as 1 / share. */
  private static final int NEAR_SHARE = 16;

  private final RowSource source;
  private final SolvePlan plan;
  private final int columns;
  private final Ridge ridge;

  /** The fingerprints that the rows must match; null before the first pass over unknown rows. */
  private Readings readings;

  private boolean labels;

  /**
   * The result of a pass.
   *
   * @param gradient size n * width, by original column: A'W(b - Ax) - lambda x
   * @param residual size width: norms of the residual, ridge rows included
   * @param ofRows size width: norms of the residual without the ridge rows
   * @param frobenius norm of sqrt(W) A and the ridge's rows
   * @param rows number of rows of positive weight
   * @param width right-hand sides
   */
  public record Sums(
      double[] gradient,
      double[] residual,
      double[] ofRows,
      double frobenius,
      long rows,
      int width) {}

  private record Part(int partition, double[] residual, double frobenius, Fingerprint fingerprint)
      implements Serializable {}

  /** Passes over the factorized rows. */
  public ResidualPass(RowSource source, PlanHandle broadcast, SolvePlan plan) {
    this(source, plan, plan.readings(), true);
  }

  private ResidualPass(RowSource source, SolvePlan plan, Readings readings, boolean labels) {
    this.readings = readings;
    this.labels = labels;
    this.source = source;
    this.plan = plan;
    this.columns = plan.analysis().columns();
    this.ridge = plan.numbers().ridge();
  }

  /** Passes over the factorized rows with other right-hand sides. */
  public static ResidualPass aligned(RowSource source, SolvePlan plan) {
    return new ResidualPass(source, plan, plan.readings(), false);
  }

  /** Passes over rows of the same matrix in any order. */
  public static ResidualPass further(RowSource source, SolvePlan plan) {
    return new ResidualPass(source, plan, null, false);
  }

  /** Max over the right-hand sides of ||A'r|| / (||A||_F ||r||); 0 where r = 0. */
  public double check(double[][] x, Held held) {
    Sums s = run(x, held);
    double worst = 0;
    for (int k = 0; k < s.width; k++) {
      double g = 0;
      for (int j = 0; j < columns; j++) {
        g = Math.hypot(g, s.gradient[j * s.width + k]);
      }
      if (g > 0) {
        worst = Math.max(worst, g / s.frobenius / s.residual[k]);
      }
    }
    return worst;
  }

  /**
   * Runs the pass.
   *
   * @param x one vector for each right-hand side, by original column; null for x = 0
   */
  public Sums run(double[][] x, Held held) {
    try (var local = new Held()) {
      Engine.Sent<double[]> at = x == null ? null : source.engine().send(flat(x), local);
      return sum(at, x);
    }
  }

  private static double[] flat(double[][] x) {
    double[] all = new double[Math.multiplyExact(x.length, x[0].length)];
    for (int k = 0; k < x.length; k++) {
      System.arraycopy(x[k], 0, all, k * x[k].length, x[k].length);
    }
    return all;
  }

  private Sums sum(Engine.Sent<double[]> at, double[][] x) {
    if (near()) {
      return sumNear(at, x);
    }
    int n = columns;
    Readings before = readings;
    boolean same = labels;
    int reducers = Math.max(1, Math.min(source.engine().parallelism(), source.parts().count()));
    Engine engine = source.engine();
    Parts<Tuple2<Integer, byte[]>> frames =
        JobScope.named(
            engine,
            "residuals",
            () ->
                source
                    .parts()
                    .shuffle(
                        reducers,
                        (p, rows) ->
                            new Scan(
                                    p,
                                    n,
                                    at == null ? null : at.value(),
                                    new Known(rows, before, same))
                                .run(reducers)
                                .iterator()));
    Parts<byte[]> merged = frames.map((k, in) -> merge(in));
    var parts = new ArrayList<Part>();
    var chunks = new ArrayList<byte[]>();
    List<byte[]> found = JobScope.run(engine, "residuals, summed up", merged::collect);
    ChangeCodec.refuse(found);
    for (byte[] frame : found) {
      if (Frame.kind(frame) == Frame.Kind.CHUNK) {
        chunks.add(frame);
      } else {
        parts.add(ObjectCodec.decode(frame, Part.class));
      }
    }
    known(parts);
    return total(parts, g -> chunks.forEach(c -> ColumnChunks.place(c, g)), x);
  }

  /**
   * Whether the partitions' vectors can be summed on the driver, where they are: all tasks are in
   * this JVM, and not many more than run at a time, so that all vectors take little more than
   * those. Vectors of more than a part of the heap go the other way, through Spark's files.
   */
  private boolean near() {
    Engine engine = source.engine();
    long bytes = 8L * columns * source.parts().count();
    return Exchange.possible(engine)
        && source.parts().count() <= 2 * engine.parallelism()
        && bytes <= Runtime.getRuntime().maxMemory() / NEAR_SHARE;
  }

  /** The same sums, to the bit, in one stage. */
  private Sums sumNear(Engine.Sent<double[]> at, double[][] x) {
    int n = columns;
    Readings before = readings;
    boolean same = labels;
    Engine engine = source.engine();
    try (var vectors = new Exchange()) {
      List<byte[]> found =
          JobScope.run(
              engine,
              "residuals",
              () ->
                  source
                      .parts()
                      .map(
                          (p, rows) ->
                              new Scan(
                                      p,
                                      n,
                                      at == null ? null : at.value(),
                                      new Known(rows, before, same))
                                  .leave(vectors))
                      .collect());
      ChangeCodec.refuse(found);
      var parts = new ArrayList<Part>();
      var sums = new ArrayList<ColumnChunks>();
      for (byte[] frame : found) {
        parts.add(ObjectCodec.decode(frame, Part.class));
      }
      known(parts);
      for (Part p : parts) {
        sums.add(vectors.get(p.partition, ColumnChunks.class));
      }
      return total(parts, g -> ColumnChunks.merge(sums, Double::sum, g, engine.parallelism()), x);
    }
  }

  /** Puts the parts in order, and remembers the rows' fingerprints if they were not known. */
  private void known(List<Part> parts) {
    parts.sort(Comparator.comparingInt(Part::partition));
    if (!labels) {
      readings = new Readings(parts.stream().map(Part::fingerprint).toList());
      labels = true;
    }
  }

  private Sums total(List<Part> parts, Consumer<double[]> vector, double[][] x) {
    int width = x == null ? -1 : x.length;
    long rows = 0;
    double frobenius = 0;
    double[] residual = null;
    for (Part p : parts) {
      rows += p.fingerprint.rows();
      frobenius = Math.hypot(frobenius, p.frobenius);
      if (p.fingerprint.rows() == 0) {
        continue;
      }
      if (width >= 0 && p.residual.length != width) {
        throw new DimensionMismatchException(
            "rows of partition "
                + p.partition
                + " have "
                + p.residual.length
                + " right-hand sides, expected "
                + width,
            "right-hand sides",
            width,
            p.residual.length);
      }
      width = p.residual.length;
      residual = residual == null ? new double[width] : residual;
      for (int k = 0; k < width; k++) {
        residual[k] = Math.hypot(residual[k], p.residual[k]);
      }
    }
    width = Math.max(width, 0);
    double[] gradient = new double[Math.multiplyExact(columns, width)];
    vector.accept(gradient);
    residual = residual == null ? new double[width] : residual;
    double[] ofRows = residual.clone();
    return new Sums(
        withRidge(gradient, residual, x),
        residual,
        ofRows,
        Math.hypot(frobenius, ridge.frobenius(columns)),
        rows,
        width);
  }

  private double[] withRidge(double[] gradient, double[] residual, double[][] x) {
    if (ridge.any() && x != null) {
      for (int k = 0; k < x.length; k++) {
        for (int j = 0; j < columns; j++) {
          gradient[j * x.length + k] -= ridge.of(j) * x[k][j];
        }
        residual[k] = Math.hypot(residual[k], ridge.norm(x[k]));
      }
    }
    return gradient;
  }

  private static Iterator<byte[]> merge(Iterator<Tuple2<Integer, byte[]>> in) {
    var out = new ArrayList<byte[]>();
    var chunks = new ArrayList<byte[]>();
    while (in.hasNext()) {
      byte[] frame = in.next()._2();
      (Frame.kind(frame) == Frame.Kind.CHUNK ? chunks : out).add(frame);
    }
    ColumnChunks.merge(chunks, Double::sum).encode(0, out);
    return out.iterator();
  }

  /** A partition's rows with their expected fingerprints. */
  private record Known(Iterator<SparseRow> rows, Readings readings, boolean labels) {}

  /** The scan of one partition. */
  private static final class Scan {
    private final int partition;
    private final int columns;
    private final double[] x;
    private final RowReader reader;
    private final LaterReading rows;
    private final ColumnChunks gradient = new ColumnChunks();
    private NormSum[] residual = new NormSum[0];
    private final NormSum frobenius = new NormSum();

    Scan(int partition, int columns, double[] x, Known known) {
      this.columns = columns;
      this.partition = partition;
      this.x = x;
      this.reader = new RowReader(partition, columns);
      this.rows = new LaterReading(reader, partition, known.rows, known.readings, known.labels);
    }

    private void read() {
      while (rows.next() && added()) {
        // Added to the sums.
      }
    }

    private byte[] part() {
      double[] norms = Arrays.stream(residual).mapToDouble(NormSum::norm).toArray();
      return ObjectCodec.encode(new Part(partition, norms, frobenius.norm(), reader.fingerprint()));
    }

    /** Leaves the vector as it is; returns the rest as a frame, or the change of the rows. */
    Iterator<byte[]> leave(Exchange vectors) {
      read();
      if (rows.changed().isPresent()) {
        return List.of(ChangeCodec.encode(rows.changed().get())).iterator();
      }
      vectors.put(partition, gradient);
      return List.of(part()).iterator();
    }

    List<Tuple2<Integer, byte[]>> run(int reducers) {
      read();
      var out = new ArrayList<Tuple2<Integer, byte[]>>();
      if (rows.changed().isPresent()) {
        byte[] change = ChangeCodec.encode(rows.changed().get());
        for (int k = 0; k < reducers; k++) {
          out.add(new Tuple2<>(k, change));
        }
        return out;
      }
      out.add(new Tuple2<>(partition % reducers, part()));
      var chunks = new ArrayList<byte[]>();
      gradient.encode(partition, chunks);
      for (byte[] c : chunks) {
        out.add(new Tuple2<>(VectorCodec.chunk(c) % reducers, c));
      }
      return out;
    }

    /** False if a row has more right-hand sides than x, which means that the rows have changed. */
    private boolean added() {
      try {
        add();
        return true;
      } catch (RuntimeException e) {
        if (!rows.isAnother()) {
          throw e;
        }
        return false;
      }
    }

    /** Entries and labels in the reader are already weighted. */
    private void add() {
      double[] b = reader.rhs();
      if (residual.length != b.length) {
        residual = Stream.generate(NormSum::new).limit(b.length).toArray(NormSum[]::new);
      }
      int[] index = reader.index();
      double[] value = reader.value();
      for (int e = 0; e < reader.count(); e++) {
        frobenius.add(value[e]);
      }
      for (int k = 0; k < b.length; k++) {
        double r = b[k];
        if (x != null) {
          for (int e = 0; e < reader.count(); e++) {
            r -= value[e] * x[k * columns + index[e]];
          }
        }
        residual[k].add(r);
        for (int e = 0; e < reader.count(); e++) {
          gradient.add((long) index[e] * b.length + k, value[e] * r);
        }
      }
    }
  }
}
