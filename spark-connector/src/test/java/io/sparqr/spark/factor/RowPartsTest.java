/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.engine.KeyPartitioner;
import io.sparqr.spark.engine.SparkErrors;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** A task's rows come in several partitions, all of them, read by several of its threads. */
class RowPartsTest {

  private static final int TASKS = 3;
  private static final int INPUTS = 5;

  /** The data of an input partition for each task and for the driver. */
  private static Iterator<Tuple2<Integer, byte[]>> from(int partition) {
    return IntStream.rangeClosed(0, TASKS)
        .mapToObj(task -> new Tuple2<>(task, new byte[] {(byte) task, (byte) partition}))
        .iterator();
  }

  /** Partition i reads as task i of a level does. */
  private static final class Reading extends RDD<String> {
    private static final long serialVersionUID = 1;
    private final RowParts parts;

    Reading(RDD<Tuple2<Integer, byte[]>> rows, RowParts parts) {
      super(
          rows.context(),
          CollectionConverters.asScala(List.<Dependency<?>>of(new FromTask(rows, 0, parts.each())))
              .toSeq(),
          ClassTag$.MODULE$.apply(String.class));
      this.parts = parts;
    }

    private record Slot(int index) implements Partition {}

    @Override
    public Partition[] getPartitions() {
      return IntStream.range(0, TASKS).mapToObj(Slot::new).toArray(Partition[]::new);
    }

    @Override
    public scala.collection.Iterator<String> compute(Partition split, TaskContext context) {
      var read = parts.read(dependencies().apply(0).rdd(), split.index(), context, 3);
      Stream<String> found =
          Stream.iterate(read, Iterator::hasNext, it -> it)
              .map(it -> (byte[]) ((Tuple2<?, ?>) it.next())._2())
              .map(b -> split.index() + " " + b[0] + " " + b[1]);
      List<String> all = found.toList();
      assertThat(TaskContext.get()).isSameAs(context);
      return CollectionConverters.asScala(all.iterator());
    }
  }

  /** One of its partitions cannot be read. */
  private static final class Failing extends RDD<Tuple2<Integer, byte[]>> {
    private static final long serialVersionUID = 1;
    private final int count;
    private final int bad;

    Failing(SparkContext context, int count, int bad) {
      super(
          context,
          CollectionConverters.asScala(List.<Dependency<?>>of()).toSeq(),
          ClassTag$.MODULE$.apply(Tuple2.class));
      this.count = count;
      this.bad = bad;
    }

    @Override
    public Partition[] getPartitions() {
      return IntStream.range(0, count).mapToObj(Reading.Slot::new).toArray(Partition[]::new);
    }

    @Override
    public scala.collection.Iterator<Tuple2<Integer, byte[]>> compute(
        Partition split, TaskContext context) {
      if (split.index() == bad) {
        throw SparkErrors.<RuntimeException>sneaky(new IOException("planted"));
      }
      return CollectionConverters.asScala(from(split.index()));
    }
  }

  private static JavaRDD<String> read(RowParts parts, JavaRDD<Tuple2<Integer, byte[]>> sent) {
    var shuffled = JavaPairRDD.fromJavaRDD(sent).partitionBy(new KeyPartitioner(parts.count()));
    return new JavaRDD<>(new Reading(shuffled.rdd(), parts), ClassTag$.MODULE$.apply(String.class));
  }

  private static JavaRDD<Tuple2<Integer, byte[]>> sent(RowParts parts) {
    return LocalSpark.context()
        .parallelize(List.of(0, 1, 2, 3, 4), INPUTS)
        .mapPartitionsWithIndex((p, none) -> parts.keyed(p, from(p)), false);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 7})
  void everyTaskHasWhatWasSentToItAndTheDriverTheRest(int each) {
    var parts = new RowParts(TASKS, each);
    assertThat(parts.count()).isEqualTo(TASKS * each + 1);
    String[] expected =
        IntStream.range(0, TASKS)
            .boxed()
            .flatMap(t -> IntStream.range(0, INPUTS).mapToObj(p -> t + " " + t + " " + p))
            .toArray(String[]::new);
    assertThat(read(parts, sent(parts)).collect()).containsExactlyInAnyOrder(expected);
    List<Tuple2<Integer, byte[]>>[] rest =
        JavaPairRDD.fromJavaRDD(sent(parts))
            .partitionBy(new KeyPartitioner(parts.count()))
            .collectPartitions(new int[] {parts.driver()});
    assertThat(rest[0]).hasSize(INPUTS).allMatch(t -> t._2()[0] == TASKS);
  }

  /** Spark knows a lost shuffle output by its exception, which is a checked one. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void whatReadingThrowsIsThrownAsItIs(int each) {
    var parts = new RowParts(TASKS, each);
    var failing = new Failing(LocalSpark.context().sc(), parts.count(), parts.first(1) + each - 1);
    var level = new JavaRDD<>(new Reading(failing, parts), ClassTag$.MODULE$.apply(String.class));
    assertThatThrownBy(() -> SparkErrors.unwrap(level::collect))
        .hasStackTraceContaining("java.io.IOException: planted")
        .hasStackTraceContaining("RowParts.read");
  }
}
