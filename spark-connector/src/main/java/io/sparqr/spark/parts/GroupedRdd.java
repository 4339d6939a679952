/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.internals.QuietRdd;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.Dependency;
import org.apache.spark.NarrowDependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An RDD each of whose partitions is made of several partitions of several RDDs. Spark prefers to
 * run its task where the first of them is stored.
 *
 * @param <T> element of the parents
 * @param <U> element
 */
final class GroupedRdd<T, U> extends QuietRdd<U> {

  private static final long serialVersionUID = 1;

  private final transient List<List<Parts.Member>> groups;
  private final GroupWork<T, U> work;

  /** With a partition for each group. */
  GroupedRdd(
      SparkContext context,
      List<RDD<T>> sources,
      List<List<Parts.Member>> groups,
      GroupWork<T, U> work) {
    super(context, dependencies(sources, groups), ClassTags.<U>any());
    this.groups = groups;
    this.work = work;
  }

  /** The members of a partition, which go to its task. */
  private record Group(int index, int[] source, Partition[] part, byte[][] given)
      implements Partition {

    private static final long serialVersionUID = 1;
  }

  /** Of each new partition the partitions of one parent. */
  private static final class OfGroups<T> extends NarrowDependency<T> {

    private static final long serialVersionUID = 1;

    private final int[][] partitions;

    OfGroups(RDD<T> parent, int[][] partitions) {
      super(parent);
      this.partitions = partitions;
    }

    @Override
    public Seq<Object> getParents(int partitionId) {
      List<Object> of =
          Arrays.stream(partitions[partitionId]).<Object>mapToObj(p -> (Integer) p).toList();
      return CollectionConverters.asScala(of).toSeq();
    }
  }

  private static <T> Seq<Dependency<?>> dependencies(
      List<RDD<T>> sources, List<List<Parts.Member>> groups) {
    var list = new ArrayList<Dependency<?>>();
    for (int s = 0; s < sources.size(); s++) {
      int source = s;
      int[][] of =
          groups.stream()
              .map(
                  group ->
                      group.stream()
                          .filter(m -> m.source() == source)
                          .mapToInt(Parts.Member::partition)
                          .toArray())
              .toArray(int[][]::new);
      list.add(new OfGroups<>(sources.get(s), of));
    }
    return CollectionConverters.asScala(list).toSeq();
  }

  @Override
  public Partition[] getPartitions() {
    var parts = new Partition[groups.size()];
    for (int g = 0; g < parts.length; g++) {
      List<Parts.Member> group = groups.get(g);
      parts[g] =
          new Group(
              g,
              group.stream().mapToInt(Parts.Member::source).toArray(),
              group.stream()
                  .map(m -> parent(m.source()).partitions()[m.partition()])
                  .toArray(Partition[]::new),
              group.stream().map(Parts.Member::frame).toArray(byte[][]::new));
    }
    return parts;
  }

  @Override
  public Iterator<U> compute(Partition split, TaskContext context) {
    var group = (Group) split;
    List<Supplier<java.util.Iterator<T>>> members =
        IntStream.range(0, group.part.length)
            .<Supplier<java.util.Iterator<T>>>mapToObj(
                k ->
                    () ->
                        CollectionConverters.asJava(
                            parent(group.source[k]).iterator(group.part[k], context)))
            .toList();
    return CollectionConverters.asScala(work.of(members, List.of(group.given)));
  }

  @SuppressWarnings("unchecked") // the dependencies are of these
  private RDD<T> parent(int source) {
    return (RDD<T>) dependencies().apply(source).rdd();
  }
}
