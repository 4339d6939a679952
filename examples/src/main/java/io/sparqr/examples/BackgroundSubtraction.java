/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.matrix.gallery.MovingScene;
import io.sparqr.numeric.lowrank.PursuitIteration;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.tall.RobustPca;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * Two figures walk past a camera while the light drifts. With a row for each pixel and a column for
 * each frame the film is a matrix of low rank, the background, plus one with few entries, the
 * figures; Robust PCA finds both. The scene is made up, so that the truth is known.
 */
public final class BackgroundSubtraction {

  private static final MovingScene SCENE = new MovingScene(40, 56, 60, 0, 7);
  private static final int PARTITIONS = 3;

  private BackgroundSubtraction() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(BackgroundSubtraction::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    JavaRDD<double[]> film =
        context
            .parallelize(IntStream.range(0, SCENE.pixels()).boxed().toList(), PARTITIONS)
            .map(SCENE::row);
    try (RobustPca found = RobustPca.builder().decompose(film)) {
      List<double[]> background = found.lowRank().collect();
      List<SparseRow> figures = found.sparse().collect();
      double squares = 0;
      long right = 0;
      long covered = 0;
      for (int p = 0; p < SCENE.pixels(); p++) {
        double[] expected = SCENE.background(p);
        double[] truth = SCENE.figures(p);
        double[] mask = mask(figures.get(p));
        for (int t = 0; t < SCENE.frames(); t++) {
          double error = background.get(p)[t] - expected[t];
          squares += error * error;
          covered += truth[t] != 0 ? 1 : 0;
          right += truth[t] != 0 == (mask[t] != 0) ? 1 : 0;
        }
      }
      double values = (double) SCENE.pixels() * SCENE.frames();
      double error = Math.sqrt(squares / values);
      PursuitIteration last = found.history().get(found.history().size() - 1);
      out.printf(
          Locale.ROOT,
          "%d pixels, %d frames: background of rank %d after %d iterations, %.1f%% are figures%n",
          SCENE.pixels(),
          SCENE.frames(),
          found.rank(),
          last.number(),
          100 * covered / values);
      out.printf(
          Locale.ROOT,
          "background right to %.5f of white, %.2f%% of the pixels taken for what they are%n",
          error,
          100 * right / values);
      return found.converged() && error < 0.01 && right > 0.99 * values;
    }
  }

  /** Where a pixel is of a figure, by frame: changes of less than a grey level are none. */
  private static double[] mask(SparseRow row) {
    double[] mask = new double[SCENE.frames()];
    for (int k = 0; k < row.indices().length; k++) {
      mask[row.indices()[k]] = Math.abs(row.values()[k]) > 1.0 / 64 ? 1 : 0;
    }
    return mask;
  }
}
