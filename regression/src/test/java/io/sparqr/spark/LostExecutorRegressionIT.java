/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.ml.SparseQRRegressionModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A regression by formula, with absorbed effects and clustered errors, as feols makes it: the same
 * bits if an executor is killed after a third, and after two thirds of its tasks.
 */
@Sampled(oneIn = 3)
@Timeout(value = 240, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostExecutorRegressionIT {

  private static final long SEED = Long.getLong("test.seed", 20261128L);
  private static final int EXECUTORS = 2;

  private static Dataset<Row> table(SparkSession session) {
    var random = new Random(SEED);
    List<Row> data = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      double x = random.nextGaussian();
      int firm = random.nextInt(60);
      int worker = random.nextInt(700);
      double y = 1 + 0.5 * x + Math.sin(firm) + Math.cos(worker) + random.nextGaussian();
      data.add(RowFactory.create(y, x, random.nextDouble(), "f" + firm, "w" + worker));
    }
    return session.createDataFrame(
        data,
        new StructType()
            .add("y", "double")
            .add("x", "double")
            .add("z", "double")
            .add("firm", "string")
            .add("worker", "string"));
  }

  private static String bits(Dataset<Row> table) {
    SparseQRRegressionModel model =
        new SparseQRRegression()
            .setFormula("y ~ x + z | worker + firm")
            .setClusterCols(new String[] {"worker", "firm"})
            .fit(table);
    // Java's text of a double tells every bit
    return model.summary().toDataFrame().collectAsList()
        + " "
        + model.summary().absorbedEffects().sort("term").collectAsList();
  }

  private static long anExecutor(JavaSparkContext context) {
    return context
        .parallelize(List.of(1, 2, 3, 4), 4)
        .map(i -> ProcessHandle.current().pid())
        .collect()
        .get(0);
  }

  /** Counts tasks, and kills a process after one of them. */
  private static final class Killer extends SparkListener {
    private final AtomicInteger tasks = new AtomicInteger();
    private final int last;
    private final long victim;

    Killer(int last, long victim) {
      this.last = last;
      this.victim = victim;
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (tasks.incrementAndGet() == last) {
        ProcessHandle.of(victim).orElseThrow().destroyForcibly();
      }
    }
  }

  @Test
  void theSameBits() throws Exception {
    LocalSpark.session().stop();
    var conf =
        LocalCluster.conf("sparqr regression loses executors", EXECUTORS, 1)
            .set("spark.sql.shuffle.partitions", "2");
    try (JavaSparkContext context = LocalCluster.start(conf, EXECUTORS)) {
      var session = SparkSession.builder().sparkContext(context.sc()).getOrCreate();
      Dataset<Row> table = table(session);
      var count = new Killer(-1, 0);
      context.sc().addSparkListener(count);
      String undisturbed = bits(table);
      context.sc().removeSparkListener(count);
      assertThat(undisturbed).contains("[x,");
      int tasks = count.tasks.get();
      for (int third = 1; third <= 2; third++) {
        LocalCluster.awaitExecutors(context, EXECUTORS);
        long victim = anExecutor(context);
        var killer = new Killer(third * tasks / 3, victim);
        context.sc().addSparkListener(killer);
        assertThat(bits(table)).as("killed after task %d", killer.last).isEqualTo(undisturbed);
        context.sc().removeSparkListener(killer);
        assertThat(ProcessHandle.of(victim)).as("the executor").isEmpty();
      }
    }
  }
}
