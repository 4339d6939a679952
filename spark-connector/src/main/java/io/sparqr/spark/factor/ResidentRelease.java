/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.ResidentFactors;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.stored.TaskOutput;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Frees the R that a factorization has left on devices. In this JVM at once; on executors by a job
 * that is not waited for, with a task for each stored partition where that is. What it does not
 * reach (an executor that was busy, a partition that moved) is freed when the device needs the
 * memory, or after some time without use.
 */
final class ResidentRelease {

  private ResidentRelease() {}

  /** Frees it; the level must still be persisted. */
  static void run(Engine engine, PlanHandle plan, Parts<TaskOutput> level) {
    String id = plan.id();
    ResidentFactors.ofJvm().drop(id);
    if (plan.here() || engine.context().sc().isStopped()) {
      return;
    }
    places(engine.context().sc(), level.rdd().rdd(), level.count())
        .foreachPartitionAsync(none -> ResidentFactors.ofJvm().drop(id));
  }

  private static JavaRDD<Integer> places(SparkContext context, RDD<?> level, int count) {
    var elements = new ArrayList<Tuple2<Integer, Seq<String>>>();
    for (int p = 0; p < count; p++) {
      var where = new ArrayList<String>();
      CollectionConverters.asJava(context.getPreferredLocs(level, p))
          .forEach(l -> where.add(String.valueOf(l)));
      elements.add(new Tuple2<>(p, scala(where)));
    }
    ClassTag<Integer> tag = ClassTag$.MODULE$.apply(Integer.class);
    return new JavaRDD<>(context.makeRDD(scala(elements), tag), tag);
  }

  private static <T> Seq<T> scala(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }
}
