/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.numeric.lowrank.PursuitRows;
import io.sparqr.numeric.lowrank.PursuitStart;
import io.sparqr.numeric.lowrank.PursuitState;
import io.sparqr.numeric.lowrank.PursuitStep;
import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.internals.QuietRdd;
import io.sparqr.spark.internals.StoredBlocks;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * S and Y after some iterations, of the partitions of M. A partition is made from what the
 * iteration before has stored, or, where that was lost with an executor, by all iterations again.
 * An RDD of its own because one that depended on the iteration before would, some hundred
 * iterations later, depend on all of them, more than Spark can serialize; this one depends on M
 * alone.
 */
final class PursuitRdd extends QuietRdd<PursuitState> {

  private static final long serialVersionUID = 1;

  private static final int NONE = -1;

  private final int before;
  private final Broadcast<PursuitStart> start;
  private final List<Broadcast<PursuitStep>> steps;

  private PursuitRdd(
      RDD<PursuitRows> m,
      int before,
      Broadcast<PursuitStart> start,
      List<Broadcast<PursuitStep>> steps) {
    super(m, ClassTags.<PursuitState>any());
    this.before = before;
    this.start = start;
    this.steps = steps;
  }

  /** Before the first iteration. */
  PursuitRdd(RDD<PursuitRows> m, Broadcast<PursuitStart> start) {
    this(m, NONE, start, List.of());
  }

  /** After one more; this one is to be stored until that is. */
  PursuitRdd after(Broadcast<PursuitStep> step) {
    var all = new ArrayList<>(steps);
    all.add(step);
    return new PursuitRdd(parent(), id(), start, all);
  }

  @Override
  public Partition[] getPartitions() {
    return parent().partitions();
  }

  @Override
  public Iterator<PursuitState> compute(Partition split, TaskContext context) {
    Iterator<PursuitRows> stored = parent().iterator(split, context);
    PursuitRows m = stored.next();
    Optional<Object> last =
        before == NONE ? Optional.empty() : StoredBlocks.fetched(before, split.index());
    PursuitState state =
        last.map(PursuitState.class::cast).orElseGet(() -> PursuitState.started(m, start.value()));
    for (int k = last.isPresent() ? steps.size() - 1 : 0; k < steps.size(); k++) {
      state = state.advanced(m, steps.get(k).value());
    }
    return CollectionConverters.asScala(List.of(state).iterator());
  }

  private RDD<PursuitRows> parent() {
    return firstParent(ClassTags.<PursuitRows>any());
  }
}
