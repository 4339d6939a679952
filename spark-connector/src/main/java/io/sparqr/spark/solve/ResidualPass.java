/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.exchange.Sent;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.parts.StoredParts;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RowCollector;
import io.sparqr.spark.rows.RowRhs;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.ResidualScan.Left;
import io.sparqr.spark.solve.ResidualScan.Part;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.threads.Parallel;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import scala.Tuple2;

/**
 * One pass over the rows for r = sqrt(W)(b - A x), A' sqrt(W) r and their norms, the ridge's rows
 * included. Sums are taken within partitions in row order and over partitions in partition order:
 * the same bits on every run. One Spark job of two stages, or of one where all tasks are in the
 * driver's JVM: then their vectors are summed where they are, and the pass leaves {@link RowCopies}
 * if there is room, with which the next one needs no job. Every pass must find the same rows as the
 * earlier ones, and right-hand sides that this JVM has stored are held until {@link #close()}.
 */
public final class ResidualPass implements AutoCloseable {

  /** The vectors of a pass in one JVM may take this fraction of its heap, as 1 / share. */
  private static final int NEAR_SHARE = 16;

  /** Values for which starting another thread pays. */
  private static final int GRAIN = 1 << 15;

  private final RowSource source;
  private final SolvePlan plan;
  private final int columns;
  private final Ridge ridge;

  /** See {@link SolvePlan#extraordinary}; may be null. */
  private final double[] factors;

  /** The fingerprints that the rows must match; null before the first pass over unknown rows. */
  private Readings readings;

  private boolean labels;

  private final RowCopies copies;

  /** By partition: the right-hand sides of the copies' rows; null: not read yet, or no copies. */
  private RowRhs[] rhs;

  /**
   * The right-hand sides, which every run reads; null: not stored in this JVM, or not yet found.
   */
  private StoredParts<double[]> stored;

  /** Of the last run, for the next one. */
  private double[] gradient = new double[0];

  /**
   * The result of a pass.
   *
   * @param gradient size n * width, by original column: A'W(b - Ax) - lambda x, of equilibrated
   *     columns where {@link SolvePlan#extraordinary} says so; the receiver's until the next run,
   *     which takes the same array
   * @param residual size width: norms of the residual, ridge rows included
   * @param ofRows size width: norms of the residual without the ridge rows
   * @param rhs size width: norms of the right-hand sides
   * @param frobenius norm of sqrt(W) A and the ridge's rows
   * @param rows number of rows of positive weight
   * @param width right-hand sides
   */
  public record Sums(
      double[] gradient,
      double[] residual,
      double[] ofRows,
      double[] rhs,
      double frobenius,
      long rows,
      int width) {}

  private ResidualPass(
      RowSource source, SolvePlan plan, Readings readings, boolean labels, RowCopies copies) {
    this.readings = readings;
    this.labels = labels;
    this.source = source;
    this.plan = plan;
    this.copies = copies;
    this.columns = plan.analysis().columns();
    this.ridge = plan.numbers().ridge();
    this.factors = plan.extraordinary();
  }

  /**
   * Passes over the factorized rows.
   *
   * @param copies of these rows, used and left
   */
  public static ResidualPass stored(RowSource source, SolvePlan plan, RowCopies copies) {
    return new ResidualPass(source, plan, plan.readings(), true, copies);
  }

  /** Passes over the factorized rows with other right-hand sides. */
  public static ResidualPass aligned(RowSource source, SolvePlan plan, RowCopies copies) {
    return new ResidualPass(source, plan, plan.readings(), false, copies);
  }

  /**
   * Passes over rows of the same matrix in any order.
   *
   * @param copies of these rows, used and left
   */
  public static ResidualPass further(RowSource source, SolvePlan plan, RowCopies copies) {
    return new ResidualPass(source, plan, null, false, copies);
  }

  /**
   * Runs the pass.
   *
   * @param x one vector for each right-hand side, by original column; null for x = 0
   */
  public Sums run(double[][] x) {
    return run(new ResidualAt(x, ResidualAt.Sums.PLAIN, factors));
  }

  /**
   * As above, with residuals as if computed in twice the precision.
   *
   * @param x one vector for each right-hand side, by original column
   */
  public Sums measure(double[][] x) {
    return run(new ResidualAt(x, ResidualAt.Sums.COMPENSATED, factors));
  }

  /**
   * |A|'s by original column, interleaved, for s = |b| + |A| |x|, the ridge's rows included: a
   * bound of the terms of A'(b - Ax).
   *
   * @param x one vector for each right-hand side, by original column
   */
  public double[] sizes(double[][] x) {
    return run(new ResidualAt(x, ResidualAt.Sums.SIZES, factors)).gradient();
  }

  private Sums run(ResidualAt x) {
    RowCopies.Copy[] there = copies.rows();
    if (there != null && rhs != null) {
      return total(copied(there, x), x);
    }
    if (there != null && near() && source.labels().isPresent()) {
      return total(relabeled(there, source.labels().get(), x), x);
    }
    try (var local = new Held()) {
      Sent<ResidualAt> at = sent(x, local);
      return near() ? sumNear(at, x) : sumFar(at, x);
    }
  }

  /**
   * For tasks, which may outlive the run, after which the caller changes x. Arrays are sent, and no
   * object of a class of ours: sessions of Spark Connect that have added the jar have a class
   * loader each, and a broadcast is read by one of them.
   */
  private Sent<ResidualAt> sent(ResidualAt x, Held local) {
    if (x.x() == null) {
      return () -> x;
    }
    Sent<double[][]> vectors = Sent.to(source.engine(), x.copy().vectors(), local);
    ResidualAt.Sums sums = x.sums();
    return () -> ResidualAt.of(vectors.value(), sums);
  }

  private Sums sumFar(Sent<ResidualAt> at, ResidualAt x) {
    int n = columns;
    Readings before = readings;
    boolean same = labels;
    int reducers = Math.max(1, Math.min(source.engine().parallelism(), source.partitions()));
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
                            new ResidualScan(
                                    p,
                                    n,
                                    at.value(),
                                    new ResidualScan.Known(rows, before, same),
                                    null)
                                .frames(reducers)
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
    parts.sort(Comparator.comparingInt(Part::partition));
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
    long bytes = 8L * columns * source.partitions();
    return engine.sharesObjects()
        && source.partitions() <= 2 * engine.parallelism()
        && bytes <= Runtime.getRuntime().maxMemory() / NEAR_SHARE;
  }

  /** These sums, to the bit, in one stage. */
  private Sums sumNear(Sent<ResidualAt> at, ResidualAt x) {
    int n = columns;
    Readings before = readings;
    boolean same = labels;
    try (RowCopies.Making making = copies.begin()) {
      Exchange into = making == null ? null : making.exchange();
      List<Left> left =
          left(
              source.parts(),
              (vectors, p, rows) -> {
                try (RowCollector copy = RowCopies.collector(into, p, before)) {
                  var known = new ResidualScan.Known(rows, before, same);
                  var scan = new ResidualScan(p, n, at.value(), known, copy);
                  Optional<Left> found = scan.left();
                  found.ifPresent(f -> vectors.put(p, f));
                  return found.isPresent()
                      ? Collections.emptyIterator()
                      : List.of(ChangeCodec.encode(scan.change())).iterator();
                }
              });
      known(left.stream().map(Left::part).toList());
      if (making != null && making.complete(left.stream().map(Left::copy).toList())) {
        rhs = left.stream().map(Left::rhs).toArray(RowRhs[]::new);
      }
      return total(left, x);
    }
  }

  /** As above, with the right-hand sides alone. */
  private List<Left> relabeled(RowCopies.Copy[] there, Parts<double[]> labeled, ResidualAt x) {
    if (stored == null) {
      stored = labeled.stored().orElse(null);
    }
    if (stored != null) {
      return here(
          there.length, p -> ResidualScan.relabeled(p, there[p], stored.partition(p), x, false));
    }
    List<Left> left = relabeledByTasks(there, labeled, x);
    rhs = left.stream().map(Left::rhs).toArray(RowRhs[]::new);
    return left;
  }

  private List<Left> relabeledByTasks(
      RowCopies.Copy[] there, Parts<double[]> labeled, ResidualAt x) {
    try (var local = new Held()) {
      Sent<ResidualAt> at = sent(x, local);
      Sent<RowCopies.Copy[]> sent = Sent.to(source.engine(), there, local);
      return left(
          labeled,
          (vectors, p, in) -> {
            vectors.put(p, ResidualScan.relabeled(p, sent.value()[p], in, at.value(), true));
            return Collections.emptyIterator();
          });
    }
  }

  /** As above, without Spark. */
  private List<Left> copied(RowCopies.Copy[] there, ResidualAt x) {
    return here(there.length, p -> ResidualScan.of(p, there[p], rhs[p], x));
  }

  /** What threads of this JVM make of the partitions, in their order. */
  private List<Left> here(int partitions, IntFunction<Left> work) {
    var left = new Left[partitions];
    Parallel.loop(
        partitions,
        1,
        source.engine().parallelism(),
        (from, to, thread) -> {
          for (int p = from; p < to; p++) {
            left[p] = work.apply(p);
          }
        });
    return List.of(left);
  }

  /** What tasks in this JVM do with a partition, and leave. */
  private interface Leaving<T> extends Serializable {
    Iterator<byte[]> run(Exchange vectors, int partition, Iterator<T> elements);
  }

  /** Runs a job of tasks in this JVM; what they have left, by partition. */
  private <T> List<Left> left(Parts<T> parts, Leaving<T> work) {
    try (var vectors = new Exchange()) {
      ChangeCodec.refuse(
          JobScope.run(
              source.engine(),
              "residuals",
              () -> parts.<byte[]>map((p, in) -> work.run(vectors, p, in)).collect()));
      var left = new ArrayList<Left>();
      for (int p = 0; p < parts.count(); p++) {
        left.add(vectors.get(p, Left.class));
      }
      return left;
    }
  }

  /** Remembers the rows' fingerprints if they were not known. */
  private void known(List<Part> parts) {
    if (!labels) {
      readings = new Readings(parts.stream().map(Part::fingerprint).toList());
      labels = true;
    }
  }

  private Sums total(List<Left> left, ResidualAt x) {
    List<ColumnChunks> sums = left.stream().map(f -> f.sums().gradient()).toList();
    return total(
        left.stream().map(Left::part).toList(),
        g -> ColumnChunks.merge(sums, Double::sum, g, source.engine().parallelism()),
        x);
  }

  private Sums total(List<Part> parts, Consumer<double[]> vector, ResidualAt x) {
    int width = x.width();
    long rows = 0;
    double frobenius = 0;
    double[] residual = null;
    double[] rhsNorm = null;
    for (Part p : parts) {
      rows += p.fingerprint().rows();
      frobenius = Math.hypot(frobenius, p.frobenius());
      if (p.fingerprint().rows() == 0) {
        continue;
      }
      if (width >= 0 && p.residual().length != width) {
        throw ResidualScan.widths(p.partition(), p.residual().length, width);
      }
      width = p.residual().length;
      residual = residual == null ? new double[width] : residual;
      rhsNorm = rhsNorm == null ? new double[width] : rhsNorm;
      for (int k = 0; k < width; k++) {
        residual[k] = Math.hypot(residual[k], p.residual()[k]);
        rhsNorm[k] = Math.hypot(rhsNorm[k], p.rhs()[k]);
      }
    }
    width = Math.max(width, 0);
    makeGradient(Math.multiplyExact(columns, width));
    vector.accept(gradient);
    residual = residual == null ? new double[width] : residual;
    rhsNorm = rhsNorm == null ? new double[width] : rhsNorm;
    double[] ofRows = residual.clone();
    return new Sums(
        withRidge(residual, x),
        residual,
        ofRows,
        rhsNorm,
        Math.hypot(frobenius, ridge.frobenius(columns)),
        rows,
        width);
  }

  /** Zeros. */
  private void makeGradient(int length) {
    if (gradient.length != length) {
      gradient = new double[length];
      return;
    }
    int threads = source.engine().parallelism();
    Parallel.loop(length, GRAIN, threads, (from, to, thread) -> Arrays.fill(gradient, from, to, 0));
  }

  private double[] withRidge(double[] residual, ResidualAt at) {
    double[][] x = at.x();
    if (ridge.any() && x != null) {
      for (int k = 0; k < x.length; k++) {
        for (int j = 0; j < columns; j++) {
          double of = ridge.of(j) * x[k][j];
          double part = plan.ordinary(j) ? of : plan.scaled(j, of);
          gradient[j * x.length + k] += at.sums() == ResidualAt.Sums.SIZES ? Math.abs(part) : -part;
        }
        residual[k] = Math.hypot(residual[k], ridge.norm(x[k]));
      }
    }
    return gradient;
  }

  /** Lets go of stored right-hand sides; idempotent. */
  @Override
  public void close() {
    if (stored != null) {
      stored.close();
      stored = null;
    }
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
}
