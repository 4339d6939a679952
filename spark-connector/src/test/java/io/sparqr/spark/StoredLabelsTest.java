/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;

/** Further right-hand sides that are in this JVM's memory already, where all tasks are in it. */
class StoredLabelsTest {

  private static final long SEED = 23;
  private static final int PARTITIONS = 3;
  private static final CsrMatrix A = Problems.random(400, 60, 5, SEED);

  /** A job's description, which says what the pass is for. */
  private static final String PASS = "A'b for further right-hand sides";

  private final List<String> jobs = new CopyOnWriteArrayList<>();

  private static JavaRDD<double[]> labels(double[] b) {
    return Problems.rdd(A, PARTITIONS, b).map(SparseRow::labels);
  }

  private static JavaRDD<double[]> stored(JavaRDD<double[]> labels) {
    JavaRDD<double[]> rdd = labels.persist(StorageLevel.MEMORY_ONLY());
    rdd.count();
    return rdd;
  }

  private static QRFactorization factorized() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .factorize(Problems.rdd(A, PARTITIONS, Problems.rhs(A.rows(), SEED)));
  }

  /** Spark waits for ever to remove what is still locked. */
  private static void requireNoLocks(JavaRDD<double[]> rdd) {
    assertTimeoutPreemptively(Duration.ofSeconds(20), () -> rdd.unpersist(true));
  }

  private void requireJobs(int count, Runnable work) throws Exception {
    var sc = LocalSpark.context().sc();
    var listener =
        new SparkListener() {
          @Override
          public void onJobStart(SparkListenerJobStart job) {
            jobs.add(job.properties().getProperty("spark.job.description", "none"));
          }
        };
    jobs.clear();
    sc.addSparkListener(listener);
    try {
      work.run();
      sc.listenerBus().waitUntilEmpty();
    } finally {
      sc.removeSparkListener(listener);
    }
    assertThat(jobs.stream().filter(j -> j.contains(PASS))).as("%s", jobs).hasSize(count);
  }

  @Test
  void theSameBitsWithoutAJob() throws Exception {
    double[] c = Problems.rhs(A.rows(), SEED + 1);
    double[] d = Problems.rhs(A.rows(), SEED + 2);
    JavaRDD<double[]> ofC = stored(labels(c));
    JavaRDD<double[]> ofD = stored(labels(d));
    try (QRFactorization f = factorized();
        QRFactorization other = factorized()) {
      var x = new ArrayList<double[]>();
      requireJobs(1, () -> x.add(f.solve(ofC).x()));
      requireJobs(0, () -> x.add(f.solve(ofC).x()));
      requireJobs(0, () -> x.add(f.solve(ofD).x()));
      requireJobs(1, () -> x.add(f.solve(labels(d)).x()));
      assertThat(x.get(1)).as("seed %d", SEED).isEqualTo(x.get(0));
      assertThat(x.get(3)).isEqualTo(x.get(2)).isEqualTo(other.solve(labels(d)).x());
      assertThat(Problems.normalResidual(A, x.get(2), d))
          .isLessThan(10 * Tolerances.NORMAL_RESIDUAL);
    }
    requireNoLocks(ofC);
    requireNoLocks(ofD);
  }

  /** Every pass reads the caller's own arrays, and vectors of a solve serve its further passes. */
  @Test
  void nothingThatTheCallerHasIsChanged() throws Exception {
    double[] c = Problems.rhs(A.rows(), SEED + 3);
    JavaRDD<double[]> one = labels(c).map(v -> new double[] {v[0], -3 * v[0]});
    JavaRDD<double[]> twice = stored(one);
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .ridge(0.1)
            .refinement(3)
            .check(true)
            .factorize(Problems.rdd(A, PARTITIONS, Problems.rhs(A.rows(), SEED)))) {
      LeastSquaresSolution first = f.solve(one);
      double[][] x = {first.x(0).clone(), first.x(1).clone()};
      var later = new ArrayList<LeastSquaresSolution>();
      requireJobs(0, () -> later.add(f.solve(twice)));
      requireJobs(0, () -> later.add(f.solve(twice)));
      for (LeastSquaresSolution s : later) {
        assertThat(s.solutions()).as("seed %d", SEED).isDeepEqualTo(x);
        assertThat(s.residualNorms()).isEqualTo(first.residualNorms());
      }
      assertThat(first.solutions()).isDeepEqualTo(x);
      assertThat(twice.collect().toArray(new double[0][]))
          .isDeepEqualTo(one.collect().toArray(new double[0][]));
    }
    requireNoLocks(twice);
  }

  @Test
  void theSameErrorsAndNothingStaysLocked() {
    double[] c = Problems.rhs(A.rows(), SEED + 1);
    double[] bad = c.clone();
    bad[A.rows() / 2] = Double.NaN;
    JavaRDD<double[]> good = stored(labels(c));
    JavaRDD<double[]> notFinite = stored(labels(bad));
    JavaRDD<double[]> few = stored(labels(c).filter(v -> v[0] != c[7]));
    JavaRDD<double[]> wide =
        stored(labels(c).map(v -> v[0] == c[200] ? new double[] {v[0], 1} : v));
    try (QRFactorization f = factorized()) {
      double[] x = f.solve(good).x();
      String message = message(f, labels(bad));
      assertThatThrownBy(() -> f.solve(notFinite))
          .isInstanceOf(NonFiniteValueException.class)
          .hasMessage(message);
      assertThatThrownBy(() -> f.solve(few))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("more rows than right-hand sides");
      assertThatThrownBy(() -> f.solve(wide))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("has 2 right-hand sides");
      assertThat(f.solve(good).x()).isEqualTo(x);
    }
    List.of(good, notFinite, few, wide).forEach(StoredLabelsTest::requireNoLocks);
  }

  private static String message(QRFactorization f, JavaRDD<double[]> labels) {
    try {
      f.solve(labels);
    } catch (NonFiniteValueException e) {
      return e.getMessage();
    }
    throw new AssertionError("no error");
  }
}
