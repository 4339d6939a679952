/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparqr.Sampled;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.TaskFailedException;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.logging.log4j.Level;
import org.apache.spark.SparkConf;
import org.apache.spark.Success$;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.feature.LabeledPoint;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The caller of a failed job gets one line, the place, and the original error. */
class FailureMessagesTest {

  private static final CsrMatrix A = Problems.random(40, 6, 3, 31);
  private static final double[] B = Problems.rhs(40, 32);

  private static JavaSparkContext context;
  private static AtomicInteger failedTasks;

  /** Tasks are tried four times here, as on a cluster; the other tests' context tries once. */
  @BeforeAll
  static void start() {
    LocalSpark.context().stop();
    context =
        new JavaSparkContext(
            new SparkConf()
                .setMaster("local[2,4]")
                .setAppName("failures")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1"));
    failedTasks = new AtomicInteger();
    context
        .sc()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onTaskEnd(SparkListenerTaskEnd task) {
                if (task.reason() != Success$.MODULE$) {
                  failedTasks.incrementAndGet();
                }
              }
            });
  }

  @AfterAll
  static void stop() {
    context.stop();
    SparkSession.clearDefaultSession();
    SparkSession.clearActiveSession();
  }

  @AfterEach
  void nothingIsLeftBehind() {
    assertThat(context.sc().getPersistentRDDs().size()).isZero();
  }

  private static int failedTasks() {
    try {
      context.sc().listenerBus().waitUntilEmpty();
    } catch (TimeoutException e) {
      throw new IllegalStateException(e);
    }
    return failedTasks.getAndSet(0);
  }

  private static Throwable thrownBy(JavaRDD<?> rows) {
    failedTasks();
    Throwable e = catchThrowable(() -> GpuSparseQR.solve(rows));
    assertThat(e).isNotNull();
    assertThat(e.getMessage().lines()).as(e.getMessage()).hasSize(1);
    return e;
  }

  private static JavaRDD<SparseRow> rows() {
    return context.parallelize(Problems.rows(A, B), 2);
  }

  private static SparseRow broken(SparseRow row) throws IOException {
    if (row.labels()[0] == B[23]) {
      throw new FileNotFoundException("/data/gone\nsecond line");
    }
    return row;
  }

  @Test
  void whatASourceThrowsComesThroughAsItWas() {
    try (var log = new CapturedLog()) {
      Throwable e = thrownBy(rows().map(FailureMessagesTest::broken));
      assertThat(e)
          .isInstanceOf(TaskFailedException.class)
          .hasMessage("row 3 of partition 1: java.io.FileNotFoundException: /data/gone")
          .cause()
          .isExactlyInstanceOf(FileNotFoundException.class)
          .hasMessage("/data/gone\nsecond line");
      assertThat(failedTasks()).as("a source may do better the next time").isEqualTo(4);
      assertThat(log.lines(Level.ERROR))
          .singleElement()
          .asString()
          .startsWith("failed (pattern) after ")
          .endsWith("s: io.sparqr.error.TaskFailedException: " + e.getMessage());
      assertThat(log.errors(Level.ERROR)).containsExactly(e);
    }
  }

  /** Cannot be sent to the driver. */
  private static final class Unserializable extends IllegalStateException {
    private final transient Object kept;
    private final Object thread = Thread.currentThread();

    Unserializable() {
      super("the driver of a database is closed");
      kept = thread;
    }

    @Override
    public String getMessage() {
      return super.getMessage() + (kept == thread ? "" : "?");
    }
  }

  private static SparseRow unserializable(SparseRow row) {
    throw new Unserializable();
  }

  @Test
  void whatCannotBeSerializedIsToldByItsText() {
    Throwable e = thrownBy(rows().map(FailureMessagesTest::unserializable));
    assertThat(e)
        .isInstanceOf(TaskFailedException.class)
        .hasMessageMatching("task \\d failed 4 times, at last on .*: row 0 of partition \\d: io.*")
        .hasMessageContaining("Unserializable: the driver of a database is closed");
  }

  @Test
  void badInputIsTriedOnce() {
    List<SparseRow> bad = new ArrayList<>(Problems.rows(A, B));
    bad.set(23, new SparseRow(new int[] {1}, new double[] {Double.NaN}, 1));
    assertThat(thrownBy(context.parallelize(bad, 2)))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessage("row 3 of partition 1, column 1: NaN");
    assertThat(failedTasks()).isZero();
    bad.set(23, new SparseRow(new int[] {1}, new double[] {1}, 1, -2));
    assertThat(thrownBy(context.parallelize(bad, 2))).hasMessageContaining("negative weight");
    assertThat(failedTasks()).isZero();
    bad.set(23, new SparseRow(new int[] {-1}, new double[] {1}, 1));
    assertThat(thrownBy(context.parallelize(bad, 2))).hasMessageContaining("column index -1");
    assertThat(failedTasks()).isZero();
    assertThat(thrownBy(context.parallelize(List.of("text"), 1)))
        .isInstanceOf(MatrixFormatException.class);
    assertThat(failedTasks()).isZero();
  }

  private static final String ROW_17 =
      "row 17 of partition 0 \\(file:.*points\\.parquet/part-.*\\.parquet\\), column 0: NaN";

  /** A fit adds the contents of the row. */
  private static final String HOLDS =
      " in label = 17.0, weight = 1.0, features = \\[NaN,1.0,2.0\\]";

  /** Features, of row 17 with a NaN, label and customer, in one Parquet file. */
  private static Dataset<Row> points(Path folder) {
    var session = SparkSession.builder().config(context.getConf()).getOrCreate();
    List<LabeledPoint> points = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      points.add(new LabeledPoint(i, Vectors.dense(i == 17 ? Double.NaN : i, 1, i % 3)));
    }
    String path = folder.resolve("points.parquet").toString();
    session
        .createDataFrame(context.parallelize(points, 1), LabeledPoint.class)
        .selectExpr("features", "label", "concat('c-', int(1000 + label)) as customer")
        .write()
        .parquet(path);
    return session.read().parquet(path);
  }

  @Test
  void theFileOfARowIsNamedWhereSparkKnowsIt(@TempDir Path folder) {
    Dataset<Row> data = points(folder);
    assertThat(catchThrowable(() -> GpuSparseQR.solve(data)))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageMatching(ROW_17);
  }

  @Sampled(oneIn = 3)
  @Test
  void aFitNamesFileAndCustomer(@TempDir Path folder) {
    Dataset<Row> data = points(folder);
    failedTasks();
    assertThat(catchThrowable(() -> new SparseQRRegression().fit(data)))
        .as("the rows of a fit are persisted and do not know their file")
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageMatching(ROW_17 + HOLDS);
    Throwable e = catchThrowable(() -> new SparseQRRegression().setIdCol("customer").fit(data));
    assertThat(e)
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageMatching(ROW_17 + " \\(customer = c-1017\\)" + HOLDS);
    assertThat(((NonFiniteValueException) e).row()).hasValue(17);
    Dataset<Row> weighted = data.withColumn("w", functions.expr("if(label = 4, -1, 1)"));
    assertThat(
            catchThrowable(
                () ->
                    new SparseQRRegression().setWeightCol("w").setIdCol("customer").fit(weighted)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("row 4 of partition 0")
        .hasMessageEndingWith("negative weight -1.0 (customer = c-1004)");
    assertThat(failedTasks()).isZero();
    assertThat(catchThrowable(() -> new SparseQRRegression().setIdCol("nobody").fit(data)))
        .hasMessageContaining("nobody");
  }

  private static SparseRow parsed(String line) {
    String[] word = line.split(",");
    return new SparseRow(
        new int[] {0, 1},
        new double[] {Double.parseDouble(word[0]), Double.parseDouble(word[1])},
        1);
  }

  @Test
  void aRowOfATextFileIsCountedFromItsSplitOn(@TempDir Path folder) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      lines.add("%d,%s".formatted(i, i == 333 ? "NaN" : 1 + i % 7));
    }
    Path file = Files.write(folder.resolve("lines.txt"), lines);
    Throwable e =
        thrownBy(context.textFile(file.toUri().toString(), 4).map(FailureMessagesTest::parsed));
    Matcher m =
        Pattern.compile(
                "row (\\d+) of partition [1-9] \\(file:.*lines\\.txt, from byte (\\d+) on\\), column"
                    + " 1: NaN")
            .matcher(e.getMessage());
    assertThat(m.matches()).as(e.getMessage()).isTrue();
    String text = Files.readString(file).substring(Integer.parseInt(m.group(2)) - 1);
    List<String> own = text.substring(text.indexOf('\n') + 1).lines().toList();
    assertThat(own.get(Integer.parseInt(m.group(1)))).isEqualTo("333,NaN");
  }
}
