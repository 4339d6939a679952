/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.numeric.lowrank.Pursuit;
import io.sparqr.numeric.lowrank.PursuitDual;
import io.sparqr.numeric.lowrank.PursuitOptions;
import io.sparqr.numeric.lowrank.PursuitPart;
import io.sparqr.numeric.lowrank.PursuitRows;
import io.sparqr.numeric.lowrank.PursuitStart;
import io.sparqr.numeric.lowrank.PursuitState;
import io.sparqr.numeric.lowrank.PursuitStep;
import io.sparqr.numeric.lowrank.PursuitTally;
import io.sparqr.spark.engine.ClassTags;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.StorageLevel;

/**
 * The iterations of a pursuit as jobs of Spark, one each: a task makes its partition's S and Y by
 * what was broadcast, then R of the new W, and R's and sums meet in a tree.
 */
final class PursuitJobs implements AutoCloseable {

  private final JavaSparkContext context;
  private final JavaRDD<PursuitRows> m;
  private final List<Broadcast<?>> sent = new ArrayList<>();
  private final List<JavaRDD<?>> stored = new ArrayList<>();
  private final Triangle ofM;
  private final Pursuit pursuit;

  /** Before the last iteration, and that. */
  private PursuitRdd before;

  private Broadcast<PursuitStep> last;

  private PursuitJobs(JavaRDD<?> rows, PursuitOptions options) {
    context = JavaSparkContext.fromSparkContext(rows.context());
    m = rows.mapPartitionsWithIndex(PursuitJobs::taken, true);
    try {
      keep(m);
      ofM = new TriangleTree(m.flatMap(PursuitJobs::leaf), Optional.empty()).root();
      pursuit = new Pursuit(options, ofM.rows, ofM.columns);
      PursuitStart start = pursuit.begin(ofM.values, ofM.tally);
      before = new PursuitRdd(m.rdd(), send(start));
      keep(before.toJavaRDD());
      last = iterate(start);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** Iterates until the tolerance is reached, or as often as is allowed. */
  static PursuitJobs run(JavaRDD<?> rows, PursuitOptions options) {
    return new PursuitJobs(rows, options);
  }

  private Broadcast<PursuitStep> iterate(PursuitStart start) {
    Triangle r = reduced(before, PursuitJobs::leaf);
    while (true) {
      PursuitStep step = pursuit.step(start, r.values);
      Broadcast<PursuitStep> sentStep = send(step);
      PursuitRdd next = before.after(sentStep);
      keep(next.toJavaRDD());
      r = reduced(next, PursuitJobs::leaf);
      if (!pursuit.goesOn(step, r.tally)) {
        release(next.toJavaRDD());
        return sentStep;
      }
      release(before.toJavaRDD());
      before = next;
    }
  }

  private interface Leaf extends java.io.Serializable {
    Iterator<Triangle> of(PursuitRows m, PursuitState state);
  }

  /** R of all rows, of the matrix whose R's the leaves are. */
  private Triangle reduced(PursuitRdd state, Leaf leaf) {
    JavaRDD<Triangle> leaves =
        m.zipPartitions(
            JavaRDD.fromRDD(state, ClassTags.<PursuitState>any()),
            (rows, states) -> leaf.of(rows.next(), states.next()));
    Triangle root = new TriangleTree(leaves, Optional.empty()).root();
    if (root.checksum != ofM.checksum) {
      throw LocalQr.changedBelow(0);
    }
    return root;
  }

  private static Iterator<PursuitRows> taken(int partition, Iterator<?> elements) {
    var rows = new DenseRows(partition, elements);
    var builder = new PursuitRows.Builder();
    while (rows.hasNext()) {
      builder.row(rows.next());
    }
    return List.of(builder.build(partition, rows.checksum())).iterator();
  }

  private static Iterator<Triangle> leaf(PursuitRows m) {
    return m.isEmpty() ? none() : leaf(m, m.qr(), m.norms());
  }

  private static Iterator<Triangle> leaf(PursuitRows m, PursuitState state) {
    return m.isEmpty() ? none() : leaf(m, state.lagrangian(m), state.tally());
  }

  private static Iterator<Triangle> dual(PursuitRows m, PursuitState state, PursuitStep step) {
    if (m.isEmpty()) {
      return none();
    }
    PursuitDual dual = state.dual(m, step);
    return leaf(m, dual.qr(), dual.tally());
  }

  private static Iterator<Triangle> none() {
    return List.<Triangle>of().iterator();
  }

  private static Iterator<Triangle> leaf(PursuitRows m, DenseQr qr, PursuitTally tally) {
    return List.of(
            new Triangle(
                m.number(), qr.height(), qr.columns(), qr.r(), qr.rows(), m.checksum(), tally))
        .iterator();
  }

  private <T> Broadcast<T> send(T value) {
    Broadcast<T> made = context.broadcast(value);
    sent.add(made);
    return made;
  }

  private void keep(JavaRDD<?> rdd) {
    rdd.persist(StorageLevel.MEMORY_AND_DISK());
    stored.add(rdd);
  }

  private void release(JavaRDD<?> rdd) {
    rdd.unpersist(false);
    stored.removeIf(other -> other.id() == rdd.id());
  }

  /** L and S by partition, stored once they are made. */
  JavaRDD<PursuitPart> parts() {
    Broadcast<PursuitStep> step = last;
    JavaRDD<PursuitPart> parts =
        m.zipPartitions(
            JavaRDD.fromRDD(before, ClassTags.<PursuitState>any()),
            (rows, states) ->
                List.of(states.next().finished(rows.next(), step.value())).iterator());
    keep(parts);
    return parts;
  }

  /** The multiplier of the last iteration: R of Y, and its sums. */
  Triangle dual() {
    Broadcast<PursuitStep> step = last;
    return reduced(before, (rows, states) -> dual(rows, states, step.value()));
  }

  /** Releases all but the parts, which can still be made again from the rows. */
  void releaseState() {
    release(m);
    release(before.toJavaRDD());
  }

  Pursuit pursuit() {
    return pursuit;
  }

  /** m. */
  long rows() {
    return ofM.rows;
  }

  /** n. */
  int columns() {
    return ofM.columns;
  }

  /** The last iteration. */
  Broadcast<PursuitStep> last() {
    return last;
  }

  @Override
  public void close() {
    stored.forEach(rdd -> rdd.unpersist(false));
    stored.clear();
    sent.forEach(Broadcast::destroy);
    sent.clear();
  }
}
