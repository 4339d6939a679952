/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.sparqr.spark.CapturedLog;
import io.sparqr.spark.LocalSpark;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.spark.HashPartitioner;
import org.apache.spark.Partition;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.rdd.RDD;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.shuffle.MetadataFetchFailedException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Function0;
import scala.Tuple2;
import scala.reflect.ClassTag$;

/**
 * What we need of Spark's private parts is there and does what we think it does. The gate runs this
 * and {@link SparkContractIT} on each version of Spark that we support.
 */
class SparkContractTest {

  private static final long MB = 1 << 20;

  private final JavaSparkContext context = LocalSpark.context();
  private final List<JavaRDD<?>> persisted = new ArrayList<>();

  @AfterEach
  void unpersist() {
    persisted.forEach(rdd -> rdd.unpersist(true));
  }

  /** What is stored once Spark has removed the broadcasts of earlier tests that are garbage. */
  private static long settled() throws InterruptedException {
    System.gc();
    long last = -1;
    for (long now = StoredBlocks.heapBytes(); now != last; now = StoredBlocks.heapBytes()) {
      last = now;
      Thread.sleep(200);
    }
    return last;
  }

  /** Arrays of a megabyte, one a partition, stored in this JVM. */
  private int stored(int count, StorageLevel level) {
    List<Integer> numbers = new ArrayList<>();
    for (int k = 0; k < count; k++) {
      numbers.add(k);
    }
    JavaRDD<long[]> rdd =
        context.parallelize(numbers, count).map(SparkContractTest::array).persist(level);
    rdd.count();
    persisted.add(rdd);
    return rdd.id();
  }

  private static long[] array(int k) {
    var array = new long[(int) MB / Long.BYTES];
    array[0] = k;
    return array;
  }

  /** A number for blocks that Spark removes with its RDD. */
  private int blocksOfOurOwn() {
    JavaRDD<Object> none = context.<Object>emptyRDD().persist(StorageLevel.MEMORY_ONLY());
    persisted.add(none);
    return none.id();
  }

  @Test
  void aBroadcastIsHereUntilItIsDestroyed() {
    Broadcast<int[]> sent = LocalSpark.context().broadcast(new int[] {1, 2});
    assertThat(sent.value()).hasSize(2);
    assertThat(StoredBlocks.isBroadcastHere(sent.id())).isTrue();
    sent.destroy(true);
    assertThat(StoredBlocks.isBroadcastHere(sent.id())).isFalse();
  }

  /** What is not sound is for Spark as if it could not be fetched. */
  @Test
  void damagedOutputIsAFailedFetch() {
    JavaPairRDD<Integer, Integer> shuffled =
        LocalSpark.context()
            .parallelize(List.of(1, 2, 3, 4, 5, 6), 3)
            .mapToPair(i -> new Tuple2<>(i, i))
            .partitionBy(new HashPartitioner(2));
    assertThat(shuffled.count()).isEqualTo(6);
    TaskContext none = TaskContext$.MODULE$.empty();
    ShuffleOutput.requireSound(shuffled.rdd(), 0, none, e -> true);
    assertThatThrownBy(
            () -> ShuffleOutput.requireSound(shuffled.rdd(), 0, none, e -> !e._1().equals(4)))
        .isInstanceOf(FetchFailedException.class)
        .hasMessageContaining("an element of it is damaged");
  }

  @Test
  void eachMethodIsCalled() {
    JavaClasses room =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.sparqr.spark.internals");
    var offered = new TreeSet<String>();
    room.forEach(
        c ->
            c.getMethods().stream()
                .filter(m -> m.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(m -> c.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(m -> !c.isRecord() && !c.isInterface())
                .forEach(m -> offered.add(c.getSimpleName() + "." + m.getName())));
    var called =
        new ClassFileImporter()
            .importClasses(SparkContractTest.class, SparkContractIT.class).stream()
                .flatMap(c -> c.getAccessesFromSelf().stream())
                .filter(
                    a -> a.getTargetOwner().getPackageName().equals("io.sparqr.spark.internals"))
                .map(SparkContractTest::name)
                .collect(Collectors.toSet());
    assertThat(offered).hasSizeGreaterThan(25);
    // Spark calls it, as the test of what an RDD logs sees
    assertThat(offered.remove("QuietRdd.logInfo")).isTrue();
    assertThat(called).containsAll(offered);
  }

  private static String name(JavaAccess<?> access) {
    return access.getTargetOwner().getSimpleName() + "." + access.getName();
  }

  /** An RDD as ours are, of one partition. */
  private static final class One extends QuietRdd<Integer> {
    private static final long serialVersionUID = 1;

    One(JavaRDD<Integer> parent) {
      super(parent.rdd(), ClassTag$.MODULE$.apply(Integer.class));
    }

    @Override
    public scala.collection.Iterator<Integer> compute(Partition split, TaskContext context) {
      return this.<Integer>firstParent(elementClassTag()).iterator(split, context);
    }

    @Override
    public Partition[] getPartitions() {
      return this.<Integer>firstParent(elementClassTag()).partitions();
    }
  }

  /** Spark's lines about an RDD stand under the name of its class, which is ours. */
  @Test
  void releasingAnRddIsNotLogged() {
    try (var log = new CapturedLog()) {
      var plain = context.parallelize(List.of(1), 1);
      RDD<Integer> one = new One(plain).persist(StorageLevel.MEMORY_ONLY());
      assertThat(one.count()).isEqualTo(1);
      one.unpersist(true);
      assertThat(log.ofClasses()).isEmpty();
      // what it would have looked like
      Function0<String> line = () -> "told";
      one.logInfo(line);
      assertThat(log.ofClasses()).containsExactly(One.class.getName() + ": told");
    }
  }

  /** Under .ci/contract the jars of one Spark stand before those of another. */
  @Test
  void theVersionIsTheOneToTest() {
    String version = LocalSpark.context().version();
    assertThat(version).isEqualTo(System.getProperty("sparqr.test.spark", version));
  }

  @Test
  void thisJvmIsADriver() {
    assertThat(SparkProcess.exists()).isTrue();
    assertThat(SparkProcess.executor()).isEmpty();
    assertThat(SparkProcess.host()).contains("127.0.0.1");
    assertThat(SparkProcess.setting("spark.app.name")).contains("sparqr tests");
    assertThat(SparkProcess.setting("spark.none")).isEmpty();
    assertThat(SparkProcess.localFolders())
        .isNotEmpty()
        .allSatisfy(folder -> assertThat(Path.of(folder)).isDirectory());
    assertThat(SparkProcess.activeContext()).containsSame(context.sc());
  }

  @Test
  void tasksOfThisJvmKnowOurClasses() {
    ClassLoader loader =
        SparkProcess.taskClassLoader().orElse(SparkContractTest.class.getClassLoader());
    assertThat(loader.getResource("io/sparqr/spark/internals/SparkProcess.class")).isNotNull();
  }

  @Test
  void aClosureIsCopiedByItsWayToATask() {
    Map<String, Integer> closure = new TreeMap<>(Map.of("a", 1));
    assertThat(SparkProcess.sentAndReceived(closure)).isEqualTo(closure).isNotSameAs(closure);
  }

  @Test
  void blocksTakeHeapUntilTheyAreEvicted() throws InterruptedException {
    long before = settled();
    int rdd = stored(6, StorageLevel.MEMORY_ONLY());
    assertThat(StoredBlocks.heapBytes() - before).isBetween(6 * MB, 7 * MB);
    long evicted = StoredBlocks.evict(2 * MB);
    assertThat(evicted).isBetween(2 * MB, 4 * MB);
    assertThat(StoredBlocks.heapBytes() - before).isBetween(2 * MB, 5 * MB);
    assertThat(StoredBlocks.evict(Runtime.getRuntime().maxMemory())).as("all or nothing").isZero();
    assertThat(StoredBlocks.isStored(rdd, 5)).isTrue();
  }

  @Test
  void aValueIsFoundWhereItWasPut() {
    int rdd = blocksOfOurOwn();
    var value = new Sized(MB);
    long before = StoredBlocks.heapBytes();
    assertThat(StoredBlocks.value(rdd, 3)).isEmpty();
    assertThat(StoredBlocks.isStored(rdd, 3)).isFalse();
    assertThat(StoredBlocks.put(rdd, 3, value)).isTrue();
    assertThat(StoredBlocks.value(rdd, 3)).containsSame(value);
    assertThat(StoredBlocks.isStored(rdd, 3)).isTrue();
    // Spark may clean up after earlier tests meanwhile.
    assertThat(StoredBlocks.heapBytes() - before).as("its own size").isBetween(MB / 2, 2 * MB);
    assertThat(StoredBlocks.executors(rdd, 4))
        .containsExactly(List.of(), List.of(), List.of(), List.of("driver"));

    StoredBlocks.remove(rdd, 3);
    assertThat(StoredBlocks.value(rdd, 3)).isEmpty();
    assertThat(StoredBlocks.isStored(rdd, 3)).isFalse();
    assertThat(StoredBlocks.heapBytes() - before).isLessThan(MB / 2);
  }

  /** It tells its size; it has no such array. */
  private record Sized(long bytes) implements SelfSized, Serializable {
    @Override
    public long estimatedSize() {
      return bytes;
    }
  }

  @Test
  void aSecondValueDoesNotReplaceTheFirst() {
    int rdd = blocksOfOurOwn();
    StoredBlocks.put(rdd, 0, "first");
    StoredBlocks.put(rdd, 0, "second");
    assertThat(StoredBlocks.value(rdd, 0)).contains("first");
    StoredBlocks.removeEverywhere(rdd, 0);
    assertThat(StoredBlocks.value(rdd, 0)).isEmpty();
    assertThat(StoredBlocks.isStored(rdd, 0)).isFalse();
  }

  @Test
  void aLockedBlockIsNotEvicted() {
    int rdd = stored(2, StorageLevel.MEMORY_ONLY());
    assertThat(StoredBlocks.lock(rdd, 1)).isTrue();
    assertThat(StoredBlocks.lock(rdd, 2)).as("there is none").isFalse();
    while (StoredBlocks.evict(1) > 0) {
      // all that can go
    }
    assertThat(StoredBlocks.isStored(rdd, 0)).isFalse();
    for (int reading = 0; reading < 2; reading++) {
      Iterator<long[]> elements = StoredBlocks.locked(rdd, 1);
      assertThat(elements.next()[0]).isEqualTo(1);
      assertThat(elements.hasNext()).isFalse();
    }
    StoredBlocks.release(rdd, 1);
    assertThat(StoredBlocks.evict(1)).isPositive();
  }

  @Test
  void aBlockOnDiskIsNotLocked() {
    int rdd = stored(1, StorageLevel.DISK_ONLY());
    assertThat(StoredBlocks.lock(rdd, 0)).isFalse();
  }

  @Test
  void aLocalMasterHasNoExecutors() {
    assertThat(SparkCluster.executors(context.sc())).isEmpty();
    assertThat(SparkCluster.runningTasks(context.sc(), "no such")).isEmpty();
  }

  @Test
  void aTaskKnowsTheFileThatItReads(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("a.txt"), "one\ntwo\n", StandardCharsets.UTF_8);
    List<String> read =
        context
            .textFile(file.toString(), 1)
            .map(line -> RunningTask.inputFile().orElseThrow())
            .map(f -> f.path() + " " + f.from())
            .collect();
    assertThat(read).hasSize(2).allSatisfy(r -> assertThat(r).endsWith(file + " 0"));
    assertThat(RunningTask.inputFile()).isEmpty();
    assertThat(
            context
                .parallelize(List.of(1), 1)
                .map(i -> RunningTask.inputFile().isPresent())
                .collect())
        .containsExactly(false);
  }

  @Test
  void aThreadBecomesOneOfATask() {
    List<Integer> found =
        context
            .parallelize(List.of(0, 1), 2)
            .map(
                i -> {
                  TaskContext task = TaskContext.get();
                  var seen = new AtomicInteger(-1);
                  var thread =
                      new Thread(
                          () -> {
                            RunningTask.set(task);
                            seen.set(TaskContext.getPartitionId());
                            RunningTask.set(null);
                          });
                  thread.start();
                  thread.join();
                  return seen.get();
                })
            .collect();
    assertThat(found).containsExactly(0, 1);
  }

  @Test
  void lostShuffleOutputIsToldFromOtherErrors() {
    // Within a task it would mark the task as failed.
    assertThat(RunningTask.isLostShuffle(new MetadataFetchFailedException(0, 0, "lost"))).isTrue();
    assertThat(RunningTask.isLostShuffle(new IllegalStateException("lost"))).isFalse();
  }

  @Test
  void aShuffleIsWrittenOnceAndBeforeItIsRead() throws Exception {
    var made = context.sc().longAccumulator();
    JavaPairRDD<Integer, byte[]> pieces =
        context
            .parallelize(List.of(0, 1, 2, 2), 2)
            .mapToPair(
                k -> {
                  made.add(1);
                  return new Tuple2<>(k, new byte[100]);
                })
            .partitionBy(new HashPartitioner(4));
    long[] bytes = ShuffleWrite.run(pieces.rdd()).orElseThrow();
    assertThat(bytes).hasSize(4);
    assertThat(bytes[0]).isPositive();
    assertThat(bytes[2]).isPositive();
    assertThat(bytes[3]).as("nothing to read").isZero();
    assertThat(pieces.count()).isEqualTo(4);
    assertThat(made.value()).isEqualTo(4);
    assertThat(ShuffleWrite.run(context.parallelize(List.of(1), 1).rdd()))
        .as("no shuffle")
        .isEmpty();
  }

  @Test
  void aShuffleThatCannotBeWrittenFailsAsAJobDoes() {
    JavaPairRDD<Integer, Integer> pieces =
        context
            .parallelize(List.of(1), 1)
            .mapToPair(k -> new Tuple2<>(k, k / (k - 1)))
            .partitionBy(new HashPartitioner(2));
    assertThatThrownBy(() -> ShuffleWrite.run(pieces.rdd()))
        .isInstanceOf(SparkException.class)
        .hasMessageContaining("Job aborted due to stage failure: Task 0 in stage")
        .hasRootCauseInstanceOf(ArithmeticException.class);
  }

  @Test
  void rowsOfATableAreReadAsSparkHasThem() {
    var schema =
        new StructType(
            new StructField[] {
              field("number", DataTypes.DoubleType),
              field("yes", DataTypes.BooleanType),
              field("integer", DataTypes.LongType),
              field("text", DataTypes.StringType),
              field("vector", SQLDataTypes.VectorType()),
            });
    Vector dense = Vectors.dense(1, 2, 3);
    Vector sparse = Vectors.sparse(4, new int[] {1, 3}, new double[] {5, 6});
    Dataset<Row> data =
        LocalSpark.session()
            .createDataFrame(
                List.of(
                    RowFactory.create(0.5, true, 7L, "ä", dense),
                    RowFactory.create(null, false, -7L, "b", sparse)),
                schema)
            .coalesce(1);
    List<String> read = TableRows.of(data).map((p, rows) -> read(rows)).collect();
    assertThat(read)
        .containsExactly(
            "5 0.5 true 7 ä 3 null [1.0, 2.0, 3.0] 0.5 ä",
            "5 null false -7 b 4 [1, 3] [5.0, 6.0] null b");
  }

  private static StructField field(String name, org.apache.spark.sql.types.DataType type) {
    return new StructField(name, type, true, Metadata.empty());
  }

  private static Iterator<String> read(Iterator<TableRow> rows) {
    var all = new ArrayList<String>();
    while (rows.hasNext()) {
      TableRow r = rows.next();
      var vector = new StringBuilder();
      r.vector(
          4,
          (size, at, values) ->
              vector
                  .append(size)
                  .append(' ')
                  .append(java.util.Arrays.toString(at))
                  .append(' ')
                  .append(java.util.Arrays.toString(values)));
      all.add(
          "%d %s %s %d %s %s %s %s"
              .formatted(
                  r.fields(),
                  r.isNull(0) ? null : r.number(0),
                  r.yes(1),
                  r.integer(2),
                  r.text(3),
                  vector,
                  r.shown(0),
                  r.shown(3)));
    }
    return all.iterator();
  }

  /** Spark makes the batches itself here; Python's are of the same format. */
  @Test
  void batchesOfArrowAreRowsInTheirOrder() {
    StructType schema =
        new StructType()
            .add("at", DataTypes.LongType)
            .add("x", DataTypes.DoubleType)
            .add("t", DataTypes.StringType);
    List<Row> wanted = new ArrayList<>();
    for (long k = 0; k < 100; k++) {
      wanted.add(RowFactory.create(k, k == 7 ? null : 0.5 * k, k == 9 ? null : "t" + k));
    }
    var given =
        (org.apache.spark.sql.classic.Dataset<Row>)
            LocalSpark.session().createDataFrame(context.parallelize(wanted, 3), schema);
    List<Broadcast<byte[]>> batches = new ArrayList<>();
    for (byte[] batch : given.toArrowBatchRdd().toJavaRDD().collect()) {
      batches.add(context.broadcast(batch));
    }
    Dataset<Row> found = ArrowTables.dataset(LocalSpark.session(), schema, batches);
    assertThat(found.schema()).isEqualTo(schema);
    assertThat(found.rdd().getNumPartitions()).isEqualTo(3);
    assertThat(found.collectAsList()).isEqualTo(wanted);
    assertThat(found.selectExpr("sum(at)").first().getLong(0)).isEqualTo(4950);
  }

  @Test
  void aSessionHasItsOwnSettingsForFiles() {
    var session = LocalSpark.session().newSession();
    session.conf().set("fs.sparqr.trial", "7");
    assertThat(Map.of("trial", TableRows.hadoopSettings(session).get("fs.sparqr.trial")))
        .containsExactly(entry("trial", "7"));
  }
}
