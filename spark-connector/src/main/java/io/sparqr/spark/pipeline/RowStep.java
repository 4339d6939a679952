/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.factor.RowParts;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.CombineChecks;
import io.sparqr.spark.rows.DriverShare;
import io.sparqr.spark.rows.HeldBatches;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowRouter;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import scala.Tuple2;

/**
 * The step that sends every row to the task of its front: by Spark's shuffle, or within one JVM by
 * {@link HeldBatches}, made by a job of one stage, or without a job if the first reading has left
 * all rows.
 */
final class RowStep {

  /** Rows on their way to tasks of this JVM may take this fraction of its heap, as 1 / share. */
  private static final int HELD_SHARE = 8;

  private final RowSource source;
  private final Engine engine;
  private final boolean once;
  private final Held held;
  private final long mostBytes;

  /**
   * Rows on their way.
   *
   * @param rows by key
   * @param parts the keys
   * @param driver what came to the driver
   * @param combined checks of what the map side has combined
   */
  record Sent(
      Parts<Tuple2<Integer, byte[]>> rows,
      RowParts parts,
      DriverShare driver,
      CombineChecks combined) {}

  /**
   * For a solve.
   *
   * @param once whether only the solution is wanted
   * @param held closes what is held for the tasks
   */
  RowStep(RowSource source, boolean once, Held held) {
    this(source, once, held, Runtime.getRuntime().maxMemory() / HELD_SHARE);
  }

  /**
   * As above.
   *
   * @param mostBytes of rows on their way to tasks of this JVM
   */
  RowStep(RowSource source, boolean once, Held held, long mostBytes) {
    this.mostBytes = mostBytes;
    this.source = source;
    this.engine = source.engine();
    this.once = once;
    this.held = held;
  }

  /**
   * Sends the rows.
   *
   * @param found by the first reading
   * @param left the rows, where that has left some
   */
  Sent send(
      PlanHandle plan,
      ClusterResources resources,
      PatternPass.Result found,
      Optional<HeldRows> left) {
    var combined = new CombineChecks();
    if (engine.spark()) {
      combined.register(engine.context().sc(), "sparqr combined rows");
    }
    Optional<HeldBatches> batches = batches(found);
    batches.ifPresent(b -> put(b, plan, left, combined));
    if (batches.filter(HeldBatches::isOpen).isPresent()) {
      HeldBatches in = batches.get();
      RowParts parts = RowParts.one(plan.value());
      DriverShare driver = driverShare(plan.value(), in.of(parts.driver()));
      return new Sent(Parts.here(engine, parts.count(), in::of), parts, driver, combined);
    }
    RowParts parts =
        engine.spark() ? RowParts.of(plan.value(), resources) : RowParts.one(plan.value());
    boolean shared = !engine.spark();
    HeldRows some = left.orElse(null);
    Parts<Tuple2<Integer, byte[]>> rows =
        read(left)
            .shuffle(
                parts.count(),
                (p, in) -> {
                  CombineChecks checks = shared ? combined.ofPart() : combined;
                  return parts.keyed(p, router(plan, p, in, some, checks));
                });
    List<Tuple2<Integer, byte[]>> mine =
        JobScope.run(engine, "singleton rows to the driver", () -> rows.collect(parts.driver()))
            .get(0);
    return new Sent(rows, parts, driverShare(plan.value(), mine.iterator()), combined);
  }

  /**
   * Where the rows stay on their way to tasks of this JVM; empty if they go by a shuffle. They do
   * so where they are too many, and where R is kept: Spark may compute an evicted part of R from
   * the rows again at any time.
   */
  private Optional<HeldBatches> batches(PatternPass.Result found) {
    boolean stay = once && engine.spark() && engine.sharesObjects();
    if (!stay || DiskNeed.ofRows(found) > mostBytes) {
      return Optional.empty();
    }
    var batches = new HeldBatches(source.partitions(), mostBytes);
    held.onClose(batches::close);
    return Optional.of(batches);
  }

  private void put(
      HeldBatches into, PlanHandle plan, Optional<HeldRows> left, CombineChecks combined) {
    if (left.filter(rows -> rows.complete(plan.value().readings(), source.partitions()))
        .isEmpty()) {
      HeldRows some = left.orElse(null);
      Parts<byte[]> work =
          read(left)
              .map(
                  (p, in) -> {
                    into.put(p, router(plan, p, in, some, combined));
                    return Collections.emptyIterator();
                  });
      JobScope.run(engine, "rows to the tasks of their fronts", work::collect);
      return;
    }
    Parallel.loop(
        source.partitions(),
        1,
        engine.parallelism(),
        (from, to, thread) -> {
          for (int p = from; p < to; p++) {
            Iterator<SparseRow> none = Collections.emptyIterator();
            into.put(p, router(plan, p, none, left.get(), combined.ofPart()));
          }
        });
  }

  /** The rows to be read again where the first reading has left none. */
  private Parts<SparseRow> read(Optional<HeldRows> left) {
    return left.map(rows -> rows.near(source.parts())).orElseGet(source::parts);
  }

  private static RowRouter router(
      PlanHandle plan,
      int partition,
      Iterator<SparseRow> rows,
      HeldRows left,
      CombineChecks combined) {
    return new RowRouter(plan.value(), partition, rows, Optional.ofNullable(left), combined);
  }

  private static DriverShare driverShare(SolvePlan plan, Iterator<Tuple2<Integer, byte[]>> pairs) {
    var mine = new ArrayList<byte[]>();
    pairs.forEachRemaining(t -> mine.add(t._2()));
    ChangeCodec.refuse(mine);
    return DriverShare.of(plan, mine);
  }
}
