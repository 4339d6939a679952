/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction2;

/**
 * A job that brings partitions to the driver, as {@code collect} does. For that one's closure Spark
 * reads and parses class files anew in every job, several milliseconds on the driver; for a class
 * such as this it does not.
 *
 * @param <T> element of the RDD
 */
public final class CollectJob<T> extends AbstractFunction2<TaskContext, Iterator<T>, Object[]>
    implements Serializable {

  private static final long serialVersionUID = 1;

  private CollectJob() {}

  /** The elements of all partitions, in their order. */
  public static <T> List<T> all(RDD<T> rdd) {
    List<List<T>> parts = of(rdd, IntStream.range(0, rdd.getNumPartitions()).toArray());
    var all = new ArrayList<T>(parts.stream().mapToInt(List::size).sum());
    parts.forEach(all::addAll);
    return all;
  }

  /** The elements of some partitions. */
  @SuppressWarnings("unchecked")
  public // what the tasks return are elements
  static <T> List<List<T>> of(RDD<T> rdd, int... partitions) {
    List<Object> numbers = Arrays.stream(partitions).<Object>mapToObj(p -> p).toList();
    var results =
        (Object[])
            rdd.sparkContext()
                .runJob(
                    rdd,
                    new CollectJob<T>(),
                    CollectionConverters.asScala(numbers).toSeq(),
                    ClassTags.<Object[]>any());
    return Arrays.stream(results).map(r -> (List<T>) Arrays.asList((Object[]) r)).toList();
  }

  @Override
  public Object[] apply(TaskContext context, Iterator<T> elements) {
    var list = new ArrayList<T>();
    while (elements.hasNext()) {
      list.add(elements.next());
    }
    return list.toArray();
  }
}
