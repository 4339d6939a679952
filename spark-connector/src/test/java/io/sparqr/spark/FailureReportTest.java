/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.error.TaskFailedException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Test;

/**
 * The report of a failed solve: an ordinary report as far as the solve got, with the error,
 * delivered once.
 */
class FailureReportTest {

  private static final long SEED = 20261301L;
  private static final CsrMatrix A = Problems.random(40, 6, 3, SEED);
  private static final double[] B = Problems.rhs(40, SEED + 1);

  /** Figures that only a finished solve has. */
  private static final Set<String> OF_THE_END =
      Set.of(
          "rank",
          "deadColumns",
          "residualNorm",
          "normalResidual",
          "conditionEstimate",
          "nearlyDependent",
          "residualSource",
          "backwardError",
          "componentwiseError",
          "verdict",
          "criteria",
          "notes",
          "gflops",
          "boundSeconds",
          "boundShare",
          "nnzR",
          "flopsDone",
          "method",
          "gramFronts",
          "gramRefused",
          "gramFlops",
          "gramError",
          "normDeparture",
          "backend",
          "backendReason",
          "devices",
          "stages",
          "rounds",
          "tasks",
          "tuning",
          "redoneTasks",
          "shuffleBytes",
          "h2dBytes",
          "d2hBytes",
          "peakDeviceBytes",
          "peakHostBytes",
          "factorBytes",
          "deviceTimeline");

  private static final class Reports implements ProgressListener {
    private final List<FailureReport> all = new ArrayList<>();

    @Override
    public void update(Progress progress) {
      // only failures are kept
    }

    @Override
    public void failed(FailureReport report) {
      all.add(report);
    }
  }

  /** The one report of a solve that fails. */
  private static FailureReport failing(
      JavaRDD<?> rows, UnaryOperator<GpuSparseQR.Builder> options) {
    var reports = new Reports();
    Throwable e =
        catchThrowable(
            () -> options.apply(GpuSparseQR.builder()).listener(reports).build().solve(rows));
    assertThat(reports.all).hasSize(1);
    assertThat(reports.all.get(0).error()).isSameAs(e).isNotNull();
    return reports.all.get(0);
  }

  private static JavaRDD<SparseRow> twoEqualColumns() {
    List<SparseRow> rows =
        IntStream.range(0, 20)
            .mapToObj(
                i -> new SparseRow(new int[] {0, 1, 2}, new double[] {i + 1, i + 1, i % 3}, i))
            .toList();
    return LocalSpark.context().parallelize(rows, 2);
  }

  @Test
  void hasTheFiguresOfAnOrdinaryReportAndTheError() throws IOException {
    JavaRDD<SparseRow> rows = twoEqualColumns();
    Map<String, Object> ordinary = GpuSparseQR.solve(rows).report().toMap();
    FailureReport report = failing(rows, b -> b.rankPolicy(RankPolicy.FAIL));
    assertThat(report.phase()).isEqualTo("factorize");
    Map<String, Object> map = report.toMap();
    ordinary.keySet().removeAll(OF_THE_END);
    ordinary.remove("seconds");
    ordinary.remove("run");
    assertThat(map).containsAllEntriesOf(ordinary);
    assertThat(map.keySet()).hasSize(ordinary.size() + 3).contains("seconds", "run", "error");

    JsonNode json = new ObjectMapper().readTree(report.toJson());
    assertThat(json.at("/error/phase").asText()).isEqualTo("factorize");
    assertThat(json.at("/error/class").asText()).isEqualTo(RankDeficientException.class.getName());
    assertThat(json.at("/error/message").asText())
        .isEqualTo(report.error().getMessage())
        .contains("rank 2 of 3");
    assertThat(json.at("/error/causes")).isEmpty();
    for (String phase : List.of("pattern", "analyze", "plan", "assemble", "factorize")) {
      assertThat(json.at("/seconds/" + phase).asDouble()).as(phase).isPositive();
    }
    // the rank is reviewed by a solve
    assertThat(json.at("/seconds/solve").asDouble()).isPositive();
    double sum = 0;
    for (String phase :
        List.of("pattern", "order", "analyze", "plan", "assemble", "factorize", "solve")) {
      sum += json.at("/seconds/" + phase).asDouble();
    }
    assertThat(json.at("/seconds/total").asDouble())
        .isGreaterThanOrEqualTo(sum * (1 - Tolerances.REORDERED));
  }

  private static SparseRow broken(SparseRow row) throws IOException {
    if (row.labels()[0] == B[23]) {
      throw new IOException("the tape is torn\nin two");
    }
    return row;
  }

  @Test
  void ofTheFirstPhaseHasNoPlanButTheCauses() throws IOException {
    FailureReport report = failing(Problems.rdd(A, 2, B).map(FailureReportTest::broken), b -> b);
    assertThat(report.phase()).isEqualTo("pattern");
    JsonNode json = new ObjectMapper().readTree(report.toJson());
    assertThat(json.fieldNames())
        .toIterable()
        .containsExactly("warnings", "seconds", "run", "error");
    assertThat(json.at("/seconds/pattern").asDouble())
        .isPositive()
        .isLessThanOrEqualTo(json.at("/seconds/total").asDouble());
    assertThat(json.at("/error/class").asText()).isEqualTo(TaskFailedException.class.getName());
    assertThat(json.at("/error/message").asText())
        .isEqualTo("row 3 of partition 1: java.io.IOException: the tape is torn");
    assertThat(json.at("/error/causes").get(0).asText())
        .isEqualTo("java.io.IOException: the tape is torn");
  }

  @Test
  void ofAFurtherSolveHasAllOfTheFactorization() {
    var reports = new Reports();
    try (QRFactorization f =
        GpuSparseQR.builder().listener(reports).build().factorize(Problems.rdd(A, 2, B))) {
      Map<String, Object> made = f.summary().toMap();
      JavaRDD<double[]> labels =
          LocalSpark.context().parallelize(List.of(new double[] {Double.NaN}), 2);
      assertThat(catchThrowable(() -> f.solve(labels))).isNotNull();
      assertThat(reports.all).hasSize(1);
      FailureReport report = reports.all.get(0);
      assertThat(report.phase()).isEqualTo("solve");
      assertThat(report.toMap())
          .containsEntry("nnzR", made.get("nnzR"))
          .containsEntry("rank", 6)
          .doesNotContainKey("residualNorm");
      assertThat(report.seconds().solve()).isPositive();
      assertThat(f.solve().x()).hasSize(6);
    }
  }

  @Test
  void isToldOnceWhereASolveIsMadeOfSeveral() {
    List<SparseRow> rows = new ArrayList<>(Problems.rows(A, B));
    rows.set(23, new SparseRow(new int[] {1}, new double[] {Double.NaN}, 1));
    JavaRDD<SparseRow> bad = LocalSpark.context().parallelize(rows, 2);
    FailureReport report = failing(bad, b -> b.minimumNorm(true));
    assertThat(report.error()).isInstanceOf(NonFiniteValueException.class);
    FailureReport fromWithin =
        failing(twoEqualColumns(), b -> b.minimumNorm(true).rankPolicy(RankPolicy.FAIL));
    assertThat(fromWithin.error()).isInstanceOf(RankDeficientException.class);
    assertThat(fromWithin.phase()).isEqualTo("factorize");
  }

  @Test
  void aListenerThatThrowsHidesNothing() {
    var wrong =
        new ProgressListener() {
          @Override
          public void update(Progress progress) {
            // nothing to show
          }

          @Override
          public void failed(FailureReport report) {
            throw new IllegalStateException("the listener's own");
          }
        };
    Throwable e =
        catchThrowable(
            () ->
                GpuSparseQR.builder()
                    .rankPolicy(RankPolicy.FAIL)
                    .listener(wrong)
                    .solve(twoEqualColumns()));
    assertThat(e).isInstanceOf(RankDeficientException.class);
    assertThat(e.getSuppressed()[0]).hasMessage("the listener's own");
  }
}
