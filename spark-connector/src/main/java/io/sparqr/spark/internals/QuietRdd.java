/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import org.apache.spark.Dependency;
import org.apache.spark.SparkContext;
import org.apache.spark.internal.LogEntry;
import org.apache.spark.rdd.RDD;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag;

/**
 * The base of our own RDDs. Spark's code in an RDD logs under the name of the RDD's class, so it
 * would write a line as if it were ours, "Removing RDD 9 from persistence list", for each RDD that
 * is released, into logs in which only Spark's own classes are kept quiet. Here it is a line for
 * debugging.
 *
 * @param <T> element
 */
public abstract class QuietRdd<T> extends RDD<T> {

  private static final long serialVersionUID = 1;

  /** An RDD of one parent, partition by partition. */
  protected QuietRdd(RDD<?> parent, ClassTag<T> element) {
    super(parent, element);
  }

  /** An RDD of any dependencies. */
  protected QuietRdd(SparkContext context, Seq<Dependency<?>> dependencies, ClassTag<T> element) {
    super(context, dependencies, element);
  }

  @Override
  public final void logInfo(LogEntry entry) {
    logDebug(entry);
  }
}
