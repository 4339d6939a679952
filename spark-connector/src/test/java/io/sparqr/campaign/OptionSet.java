/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.ConstrainedFactorization;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** Options to solve a problem with: most of them in this JVM without Spark, in a millisecond. */
enum OptionSet {
  DEFAULT(b -> b),
  NATURAL(b -> b.ordering(OrderingMethod.NATURAL)),
  COLAMD(b -> b.ordering(OrderingMethod.COLAMD)),
  AMD(b -> b.ordering(OrderingMethod.AMD)),
  NESTED_DISSECTION(b -> b.ordering(OrderingMethod.NESTED_DISSECTION)),
  NOT_EQUILIBRATED(b -> b.equilibrate(false)),
  TOLERANCE(b -> b.rankTolerance(1e-10)),
  NO_RANK_TEST(b -> b.rankTolerance(-1)),
  RIDGE(b -> b.ridge(1e-6)),
  REFINED_ONCE(b -> b.refinement(1)),
  REFINED(b -> b.refinement(5)),
  CHECKED(b -> b.check(true)),
  /** The rows in another order. */
  SHUFFLED(b -> b) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      double[] ones = p.ones();
      List<SparseRow> rows = new ArrayList<>(p.rows(p.b(), ones));
      Collections.shuffle(rows, random);
      return List.of(new Answer(solve(p, rows), p.b(), ones));
    }
  },
  /** Weights of 1/4, 1 and 4, which leave the rank. */
  WEIGHTED(b -> b) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      double[] w = new double[p.a().rows()];
      Arrays.setAll(w, i -> Math.scalb(1.0, 2 * random.nextInt(3) - 2));
      return List.of(new Answer(solve(p, p.rows(p.b(), w)), p.b(), w));
    }
  },
  /** Later right-hand sides by the semi-normal equations, their rows in another order. */
  SEMI_NORMAL(b -> b) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      double[] ones = p.ones();
      double[][] b = RightHandSides.draw(p.a(), random);
      List<SparseRow> rows = new ArrayList<>(p.rows(b, ones));
      Collections.shuffle(rows, random);
      try (FactorState f =
          Pipeline.factorize(source(p.rows(p.b(), ones)), options(p), ProgressListener.NONE)) {
        return List.of(new Answer(f.solveFurther(source(rows)), b, ones));
      }
    }
  },
  /** The plain executor of task lists, or a device where there is one. */
  DEVICE(b -> b.backend(BackendChoice.REQUIRE_CUDA)),
  ON_SPARK(b -> b) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      return onSpark(p);
    }
  },
  /** The original and later right-hand sides by the kept Q. */
  KEPT_Q(b -> b.keepQ(true)) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      double[] ones = p.ones();
      double[][] b = RightHandSides.draw(p.a(), random);
      var context = LocalSpark.context();
      try (QRFactorization f = builder(p).factorize(context.parallelize(p.rows(p.b(), ones), 2))) {
        return List.of(
            new Answer(f.solve(), p.b(), ones),
            new Answer(f.solveRelabeled(context.parallelize(p.rows(b, ones), 2)), b, ones));
      }
    }
  },
  /** Half of the rows appended to the others. */
  APPENDED(b -> b) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      double[] ones = p.ones();
      List<SparseRow> rows = p.rows(p.b(), ones);
      int half = (rows.size() + 1) / 2;
      var context = LocalSpark.context();
      try (QRFactorization f = builder(p).factorize(context.parallelize(rows.subList(0, half), 2));
          QRFactorization g = f.append(context.parallelize(rows.subList(half, rows.size()), 1))) {
        return List.of(new Answer(g.solve(), p.b(), ones));
      }
    }
  },
  MINIMUM_NORM(b -> b.minimumNorm(true)) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      return onSpark(p);
    }
  },
  /** x_0 = 1, and where there are more columns x_0 + ... + x_(n-1) = 0. */
  CONSTRAINED(b -> b) {
    @Override
    List<Answer> solve(CampaignProblem p, Random random) {
      var rdd = LocalSpark.context().parallelize(p.rows(p.b(), p.ones()), 2);
      try (ConstrainedFactorization f = builder(p).build().factorize(rdd, constraints(p))) {
        return List.of(new Answer(f.solve(), p.b(), p.ones()));
      }
    }
  };

  private final UnaryOperator<GpuSparseQR.Builder> options;

  OptionSet(UnaryOperator<GpuSparseQR.Builder> options) {
    this.options = options;
  }

  /** Those that start Spark jobs, 0.1 s a solve. */
  boolean onSpark() {
    return compareTo(ON_SPARK) >= 0;
  }

  /** Whether the rank is that of A's columns at the default tolerance. */
  boolean ranksByDefault() {
    return switch (this) {
      case NOT_EQUILIBRATED, TOLERANCE, NO_RANK_TEST, RIDGE, CONSTRAINED -> false;
      default -> true;
    };
  }

  /** Whether the columns are in the order of {@link #DEFAULT}, rows too. */
  boolean likeDefault() {
    return switch (this) {
      case REFINED_ONCE, REFINED, CHECKED, KEPT_Q, SEMI_NORMAL, DEVICE, ON_SPARK -> true;
      default -> false;
    };
  }

  /**
   * Solves.
   *
   * @param random for what the options leave open
   */
  List<Answer> solve(CampaignProblem p, Random random) {
    double[] ones = p.ones();
    return List.of(new Answer(solve(p, p.rows(p.b(), ones)), p.b(), ones));
  }

  GpuSparseQR.Builder builder(CampaignProblem p) {
    return options.apply(GpuSparseQR.builder().columns(p.a().columns()).backend(BackendChoice.CPU));
  }

  SolveOptions options(CampaignProblem p) {
    return builder(p).build().options();
  }

  LeastSquaresSolution solve(CampaignProblem p, List<SparseRow> rows) {
    return Pipeline.solve(source(rows), options(p), ProgressListener.NONE);
  }

  /** Two partitions, or one for a single row. */
  static RowSource source(List<SparseRow> rows) {
    int half = rows.size() / 2;
    return rows.size() < 2
        ? RowSource.local(1, k -> rows.iterator())
        : RowSource.local(
            2, k -> (k == 0 ? rows.subList(0, half) : rows.subList(half, rows.size())).iterator());
  }

  List<Answer> onSpark(CampaignProblem p) {
    double[] ones = p.ones();
    var rdd = LocalSpark.context().parallelize(p.rows(p.b(), ones), 2);
    return List.of(new Answer(builder(p).solve(rdd), p.b(), ones));
  }

  /** The constraints of {@link #CONSTRAINED}. */
  static LinearConstraints constraints(CampaignProblem p) {
    int n = p.a().columns();
    double[] zero = new double[p.b().length];
    double[] one = new double[p.b().length];
    Arrays.fill(one, 1);
    double[] all = new double[n];
    Arrays.fill(all, 1);
    var first = new SparseRow(new int[] {0}, new double[] {1}, one);
    return n == 1
        ? LinearConstraints.of(first)
        : LinearConstraints.of(first, new SparseRow(IntStream.range(0, n).toArray(), all, zero));
  }
}
