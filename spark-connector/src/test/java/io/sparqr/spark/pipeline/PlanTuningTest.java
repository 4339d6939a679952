/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.spark.Problems;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.condition.RankRequest;
import io.sparqr.spark.factorization.Earlier;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.PlannedTuning;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A plan for devices has a tuning and its origin; a wrong file is one warning, and no error. */
class PlanTuningTest {

  private static final long SEED = Long.getLong("test.seed", 20261130L);
  private static final CsrMatrix A = Problems.grid(8, SEED);

  @TempDir private Path folder;
  private final List<String> warnings = new ArrayList<>();

  @AfterEach
  void forget() {
    System.clearProperty(Keys.TUNING_FILE.name());
  }

  /** The tunings of two plans of one pipeline. */
  private List<PlannedTuning> planned(DeviceVerdict verdict) {
    RowSource source = RowSource.of(Problems.rdd(A, 2, Problems.rhs(A.rows(), SEED)));
    var options = SolveOptions.defaults();
    PatternPass.Result found = new PatternPass(source, options).run(null);
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(
            found.patterns().whole().orElseThrow(), SymbolicOptions.defaults().withRhs(1));
    DeviceVerdict host = Pipeline.foretold(BackendChoice.CPU, true, analysis);
    ClusterResources resources = ClusterResources.probe(source.engine(), 0, host);
    var step = new PlanStep(source, options, Earlier.NONE, RankRequest.FIRST, warnings);
    ClusterResources.Planned cut = step.cut(analysis, found, resources);
    return List.of(
        step.of(found, cut, verdict).numbers().fronts().tuned(),
        step.of(found, cut, verdict).numbers().fronts().tuned());
  }

  @Test
  void aDamagedFileIsOneWarning() throws IOException {
    Path file = folder.resolve("tuning.json");
    Files.writeString(file, "{\"format\": 1");
    System.setProperty(Keys.TUNING_FILE.name(), file.toString());
    List<PlannedTuning> tunings = planned(new DeviceVerdict.Use(false, "asked for"));
    assertThat(tunings.get(0)).isEqualTo(tunings.get(1));
    assertThat(tunings.get(0).tuning()).isEqualTo(Tuning.constants());
    assertThat(warnings).singleElement().asString().contains(file.toString(), "damaged");
    assertThat(tunings.get(0).origin()).isEqualTo("constants: " + warnings.get(0));
  }

  @Test
  void onCpusNoFileIsRead() throws IOException {
    Path file = folder.resolve("tuning.json");
    Files.writeString(file, "{");
    System.setProperty(Keys.TUNING_FILE.name(), file.toString());
    assertThat(planned(new DeviceVerdict.Refuse("asked for")))
        .containsExactly(PlannedTuning.NONE, PlannedTuning.NONE);
    assertThat(warnings).isEmpty();
  }
}
