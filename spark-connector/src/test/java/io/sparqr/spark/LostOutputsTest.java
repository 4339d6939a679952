/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static io.sparqr.spark.ChangedInputTest.analysis;
import static io.sparqr.spark.ChangedInputTest.refused;
import static io.sparqr.spark.ChangedInputTest.solver;
import static io.sparqr.spark.ChangedInputTest.source;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.SampledCases;
import io.sparqr.configuration.Keys;
import io.sparqr.spark.ChangingRows.Change;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rows that Spark computes again because shuffle files were lost are compared with the first. With
 * a local master only those of a factorization that keeps R are shuffled.
 */
@Tag("once")
class LostOutputsTest {

  /**
   * After a failed fetch Spark forgets the block manager that had the file. With a local master it
   * never registers that one again, and no later block of the context is found by the driver.
   */
  @AfterEach
  void theNextTestGetsAnotherContext() {
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
    try {
      assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
      assertThat(LocalSpark.context().getLocalProperty("spark.job.description")).isNull();
    } finally {
      LocalSpark.context().stop();
    }
  }

  /** With a given analysis rows are read once, and again only after a loss. */
  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @EnumSource(names = {"RANDOM", "HALF_GONE", "ONE_BIT", "OTHER_COLUMNS", "LABELS"})
  void withAGivenAnalysisWhatIsComputedAgainForLostOutputsIsChecked(Change change) {
    GpuSparseQR.Builder given = solver().analysis(analysis());
    double[] x = given.solve(source(Change.NONE, 0).rdd()).x();
    assertThat(given.solve(source(change, 1).rdd()).x()).isEqualTo(x);
    ChangingRows same = source(Change.NONE, 0);
    assertThat(kept(given.listener(new Loss()), same)).isEqualTo(x);
    assertThat(same.times()).as("once, and again after the loss").isEqualTo(2);
    refused(change, () -> kept(given.listener(new Loss()), source(change, 1)));
  }

  /** x by way of a factorization that keeps R. */
  private static double[] kept(GpuSparseQR.Builder qr, ChangingRows rows) {
    try (QRFactorization f = qr.factorize(rows.rdd())) {
      return f.solve().x();
    }
  }

  @Test
  void whatIsComputedAgainForLostOutputsIsCheckedWhereItIsUsed() {
    LeastSquaresSolution undisturbed = solver().solve(source(Change.NONE, 0).rdd());
    assertThat(undisturbed.report().analysis().levels()).isGreaterThanOrEqualTo(2);

    for (boolean left : new boolean[] {true, false}) {
      System.setProperty(Keys.ROW_COPY_SHARE.name(), left ? "0.1" : "0");
      ChangingRows same = source(Change.NONE, 0);
      assertThat(kept(solver().listener(new Loss()), same)).isEqualTo(undisturbed.x());
      int readings = left ? 1 : 2;
      assertThat(same.times()).as("the rows were routed twice").isEqualTo(readings + 1);
      for (Change change : List.of(Change.ONE_BIT, Change.HALF_GONE, Change.OTHER_COLUMNS)) {
        refused(change, () -> kept(solver().listener(new Loss()), source(change, readings)));
      }
    }
  }

  /** Takes away all shuffle files when the second level is about to begin. */
  private static final class Loss implements ProgressListener {
    private final AtomicBoolean done = new AtomicBoolean();

    @Override
    public void update(Progress p) {
      if (!p.detail().startsWith("level 2") || done.getAndSet(true)) {
        return;
      }
      long lost = 0;
      try {
        for (File dir : SparkEnv.get().blockManager().diskBlockManager().localDirs()) {
          lost += SparkFiles.delete(SparkFiles.below(dir.toPath(), "shuffle_"));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      assertThat(lost).isPositive();
    }
  }
}
