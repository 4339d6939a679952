/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.RowParts;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.CombineChecks;
import io.sparqr.spark.rows.DriverShare;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowRouter;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.ChangeCodec;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * The step that sends every row to the task of its front: read again, or as the first reading has
 * left it.
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
    CombineChecks combined = new CombineChecks().register(engine, "sparqr combined rows");
    Parts<SparseRow> in = read(left, plan.value());
    RowParts parts = RowParts.of(plan.value(), resources, in);
    HeldRows some = left.orElse(null);
    Parts<Tuple2<Integer, byte[]>> rows =
        JobScope.run(
            engine,
            "rows to the tasks of their fronts",
            () ->
                in.handOver(
                    parts.count(),
                    mostBytes(found),
                    held,
                    (p, part) -> parts.keyed(p, router(plan, p, part, some, combined.ofPart()))));
    Optional<long[]> bytes = JobScope.run(engine, "rows to the tasks of their fronts", rows::write);
    // Where singletons and notices of changed rows would be there is often nothing to fetch.
    boolean none = bytes.isPresent() && bytes.get()[parts.driver()] == 0;
    List<Tuple2<Integer, byte[]>> mine =
        none
            ? List.of()
            : JobScope.run(
                    engine, "singleton rows to the driver", () -> rows.collect(parts.driver()))
                .get(0);
    return new Sent(rows, parts, driverShare(plan.value(), mine.iterator()), combined);
  }

  /**
   * Bytes of rows that may stay in this JVM: none where there are too many for all to stay, and
   * where R is kept, because Spark may compute an evicted part of R from the rows again at any
   * time.
   */
  private long mostBytes(PatternPass.Result found) {
    return once && DiskNeed.ofRows(found) <= mostBytes ? mostBytes : 0;
  }

  /** The rows to be read again where the first reading has left none. */
  private Parts<SparseRow> read(Optional<HeldRows> left, SolvePlan plan) {
    return left.map(rows -> rows.near(source.parts(), plan.readings())).orElseGet(source::parts);
  }

  private static RowRouter router(
      PlanHandle plan,
      int partition,
      Iterator<SparseRow> rows,
      @Nullable HeldRows left,
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
