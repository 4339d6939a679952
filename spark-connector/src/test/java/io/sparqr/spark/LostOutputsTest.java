/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static io.sparqr.spark.ChangedInputTest.analysis;
import static io.sparqr.spark.ChangedInputTest.refused;
import static io.sparqr.spark.ChangedInputTest.solver;
import static io.sparqr.spark.ChangedInputTest.source;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.ChangingRows.Change;
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

/** Rows that Spark computes again because shuffle files were lost are compared with the first. */
@Tag("once")
class LostOutputsTest {

  /**
   * After a failed fetch Spark forgets the block manager that had the file. With a local master it
   * never registers that one again, and no later block of the context is found by the driver.
   */
  @AfterEach
  void theNextTestGetsAnotherContext() {
    try {
      assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
      assertThat(LocalSpark.context().getLocalProperty("spark.job.description")).isNull();
    } finally {
      LocalSpark.context().stop();
    }
  }

  /** With a given analysis rows are read once, and again only after a loss. */
  @ParameterizedTest
  @EnumSource(names = {"RANDOM", "HALF_GONE", "ONE_BIT", "OTHER_COLUMNS", "LABELS"})
  void withAGivenAnalysisWhatIsComputedAgainForLostOutputsIsChecked(Change change) {
    GpuSparseQR.Builder given = solver().analysis(analysis());
    double[] x = given.solve(source(Change.NONE, 0).rdd()).x();
    assertThat(given.solve(source(change, 1).rdd()).x()).isEqualTo(x);
    ChangingRows same = source(Change.NONE, 0);
    assertThat(given.listener(new Loss()).solve(same.rdd()).x()).isEqualTo(x);
    assertThat(same.times()).as("once, and again after the loss").isEqualTo(2);
    refused(change, () -> given.listener(new Loss()).solve(source(change, 1).rdd()));
  }

  @Test
  void whatIsComputedAgainForLostOutputsIsCheckedWhereItIsUsed() {
    LeastSquaresSolution undisturbed = solver().solve(source(Change.NONE, 0).rdd());
    assertThat(undisturbed.report().analysis().levels()).isGreaterThanOrEqualTo(2);

    ChangingRows same = source(Change.NONE, 0);
    LeastSquaresSolution again = solver().listener(new Loss()).solve(same.rdd());
    assertThat(same.times()).as("the rows were routed twice").isEqualTo(3);
    assertThat(again.x()).isEqualTo(undisturbed.x());

    for (Change change : List.of(Change.ONE_BIT, Change.HALF_GONE, Change.OTHER_COLUMNS)) {
      refused(change, () -> solver().listener(new Loss()).solve(source(change, 2).rdd()));
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
