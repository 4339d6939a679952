/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.configuration.Keys;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.feature.LabeledPoint;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lists of Spark's UI during a solve; afterwards the caller's properties are restored. */
class StageNamesTest {

  private static final String PREFIX = "sparse QR: ";
  private static final String[] KEYS = {
    "spark.jobGroup.id",
    "spark.job.description",
    "spark.job.interruptOnCancel",
    "callSite.short",
    "callSite.long"
  };
  private static final CsrMatrix A = Problems.grid(12, 15);
  private static final double[] B = Problems.rhs(A.rows(), 16);

  private final JavaSparkContext context = LocalSpark.context();
  private final Seen seen = new Seen();

  /** Stage names, job groups and descriptions in the order they came. */
  private static final class Seen extends SparkListener {
    private final Set<String> stages = new LinkedHashSet<>();
    private final Set<String> details = new LinkedHashSet<>();
    private final Set<String> groups = new LinkedHashSet<>();
    private final Set<String> descriptions = new LinkedHashSet<>();

    void clear() {
      List.of(stages, details, groups, descriptions).forEach(Set::clear);
    }

    @Override
    public void onJobStart(SparkListenerJobStart job) {
      groups.add(String.valueOf(job.properties().getProperty(KEYS[0])));
      descriptions.add(String.valueOf(job.properties().getProperty(KEYS[1])));
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted stage) {
      stages.add(stage.stageInfo().name());
      details.add(stage.stageInfo().details());
    }
  }

  @BeforeEach
  void listen() {
    drain();
    context.sc().addSparkListener(seen);
  }

  @AfterEach
  void listenNoMore() {
    context.sc().removeSparkListener(seen);
    for (String key : KEYS) {
      context.setLocalProperty(key, null);
    }
  }

  private void drain() {
    try {
      context.sc().listenerBus().waitUntilEmpty();
    } catch (TimeoutException e) {
      throw new IllegalStateException("Spark's listener bus does not come to rest", e);
    }
  }

  private Map<String, String> properties() {
    var all = new TreeMap<String, String>();
    for (String key : KEYS) {
      all.put(key, String.valueOf(context.getLocalProperty(key)));
    }
    return all;
  }

  private static SparseQRSolver solver() {
    return GpuSparseQR.builder()
        .partitionOptions(new PartitionOptions(2, 2, 2, 0))
        .check(true)
        .build();
  }

  private static String level(Set<String> names, int level) {
    return names.stream()
        .filter(n -> n.startsWith(PREFIX + "level " + level + " of 2, "))
        .findFirst()
        .orElse("no level " + level + " in " + names);
  }

  /**
   * Rows that the first reading has left need no job on their way to the tasks, others one of one
   * stage, and where R is kept they are shuffled, with nothing to be read for the driver.
   */
  @Test
  void everyStageOfASolveSaysWhatIsDone() {
    assertStages(() -> solver().solve(Problems.rdd(A, 3, B)), List.of(), true);
    String sent = PREFIX + "rows to the tasks of their fronts";
    System.setProperty(Keys.ROW_COPY_SHARE.name(), "0");
    try {
      assertStages(() -> solver().solve(Problems.rdd(A, 3, B)), List.of(sent), true);
    } finally {
      System.clearProperty(Keys.ROW_COPY_SHARE.name());
    }
    assertStages(() -> solver().factorize(Problems.rdd(A, 3, B)).close(), List.of(sent), false);
  }

  private void assertStages(Runnable work, List<String> rows, boolean solved) {
    seen.clear();
    Map<String, String> before = properties();
    work.run();
    drain();
    String level1 = level(seen.stages, 1);
    String level2 = level(seen.stages, 2);
    assertThat(level1).matches("sparse QR: level 1 of 2, \\d+ subtrees?, [0-9.]+ \\w?FLOP");
    var stages = new ArrayList<>(List.of(PREFIX + "pattern and column norms"));
    stages.addAll(rows);
    stages.add(level1);
    stages.add(level2);
    var descriptions = new ArrayList<>(List.of(PREFIX + "pattern and column norms"));
    descriptions.addAll(rows.subList(0, Math.min(1, rows.size())));
    descriptions.addAll(List.of(level1, level2));
    // Level 2 has solved where it was factored.
    stages.add(PREFIX + "back substitution, level 1 of 2");
    descriptions.add(PREFIX + "back substitution, level 1 of 2");
    if (solved) {
      stages.add(PREFIX + "residuals");
      stages.add(PREFIX + "forward substitution, level 1 of 2");
      stages.add(PREFIX + "forward substitution, level 2 of 2");
      descriptions.add(PREFIX + "residuals, for the check of the normal equations");
      descriptions.add(PREFIX + "forward substitution, level 1 of 2");
      descriptions.add(PREFIX + "forward substitution, level 2 of 2");
    }
    assertThat(seen.stages).containsExactlyElementsOf(stages);
    assertThat(seen.descriptions).containsExactlyElementsOf(descriptions);
    assertThat(seen.groups).singleElement().asString().startsWith("sparqr-");
    assertThat(seen.details)
        .isNotEmpty()
        .allSatisfy(d -> assertThat(d).contains("StageNamesTest.assertStages"));
    assertThat(properties()).isEqualTo(before);
  }

  @Test
  void factorizeSolveAndRefitAreOneGroup() {
    JavaRDD<SparseRow> rows = Problems.rdd(A, 3, B);
    JavaRDD<double[]> other = rows.map(r -> new double[] {1, r.labels()[0]});
    Map<String, String> before = properties();
    for (boolean keepQ : new boolean[] {false, true}) {
      seen.groups.clear();
      seen.stages.clear();
      try (var f =
          GpuSparseQR.builder()
              .partitionOptions(new PartitionOptions(2, 2, 2, 0))
              .keepQ(keepQ)
              .build()
              .factorize(rows)) {
        f.solve();
        f.solve(other);
        f.solveRelabeled(rows);
        f.unscaledErrors();
        f.collectR();
      }
      drain();
      assertThat(seen.groups).as("keepQ %s", keepQ).singleElement().asString().startsWith("sparqr");
      assertThat(seen.stages)
          .as("keepQ %s", keepQ)
          .allMatch(s -> s.startsWith(PREFIX))
          .contains(
              PREFIX + "standard errors, level 1 of 2",
              PREFIX + "standard errors, blocks of R^-1 to their children",
              PREFIX + "R to the driver, level 2 of 2",
              PREFIX + "forward substitution, level 1 of 2",
              PREFIX + (keepQ ? "Q'b, level 1 of 2" : "residuals"));
      assertThat(properties()).isEqualTo(before);
    }
  }

  @Test
  void whatTheCallerHasSetIsKept() {
    context.setJobGroup("nightly", "the caller's own", false);
    context.setCallSite("the caller's place");
    Map<String, String> before = properties();
    JavaRDD<SparseRow> rows = Problems.rdd(A, 3, B);
    try (var f = solver().factorize(rows)) {
      assertThat(properties()).isEqualTo(before);
      f.solve();
    }
    drain();
    assertThat(seen.groups).containsExactly("nightly");
    assertThat(properties()).isEqualTo(before);
    var bad = new ArrayList<>(Problems.rows(A, B));
    bad.set(3, new SparseRow(new int[] {0}, new double[] {Double.NaN}, 1));
    assertThatThrownBy(() -> solver().solve(context.parallelize(bad, 2)))
        .isInstanceOf(NonFiniteValueException.class);
    assertThat(properties()).isEqualTo(before);
    JavaRDD<SparseRow> broken = rows.map(StageNamesTest::broken);
    assertThatThrownBy(() -> solver().solve(broken)).hasMessageContaining("broken");
    assertThat(properties()).isEqualTo(before);
  }

  private static SparseRow broken(SparseRow row) {
    throw new IllegalStateException("broken " + row.columns());
  }

  @Test
  void minimumNormsFitsAndDatasetsAreNamedToo() {
    Map<String, String> before = properties();
    CsrMatrix wide = Problems.random(12, 40, 8, 17);
    GpuSparseQR.builder().minimumNorm(true).solve(Problems.rdd(wide, 3, Problems.rhs(12, 18)));
    drain();
    assertThat(seen.groups).hasSize(1);
    assertThat(seen.stages)
        .allMatch(s -> s.startsWith(PREFIX))
        .contains(
            PREFIX + "shape of the system",
            PREFIX + "right-hand sides of a wide system",
            PREFIX + "entries of the transpose",
            PREFIX + "A z, for the minimum norm");
    seen.groups.clear();
    List<LabeledPoint> points = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      points.add(new LabeledPoint(i % 7, Vectors.dense(i, i % 5, 1 + i % 3)));
    }
    var data =
        LocalSpark.session()
            .createDataFrame(context.parallelize(points, 2), LabeledPoint.class)
            .repartition(2);
    new SparseQRRegression().setRegParam(0.1).fit(data);
    GpuSparseQR.solve(data);
    drain();
    assertThat(seen.groups).hasSize(2).allMatch(g -> g.startsWith("sparqr-"));
    assertThat(seen.stages)
        .allMatch(s -> s.startsWith(PREFIX))
        .contains(
            PREFIX + "rows of the Dataset",
            PREFIX + "sums of the weights, for the ridge",
            PREFIX + "moments of labels and predictions");
    assertThat(properties()).isEqualTo(before);
  }
}
