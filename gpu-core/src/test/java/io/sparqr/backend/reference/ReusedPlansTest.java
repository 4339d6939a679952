/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static io.sparqr.backend.reference.StagedFactorizationTest.MIXED;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.StagedFactorizationTest.Case;
import io.sparqr.backend.staged.ForwardingExecutor;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.KeptPlans;
import io.sparqr.backend.staged.layout.PreparedTask;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Plans that finished tasks leave: who takes them, and that no bit depends on it. */
class ReusedPlansTest {

  /** Programs that an executor has run. */
  private static final class Programs extends ForwardingExecutor {
    private final TaskListExecutor inner = new TaskListExecutor(MIXED);
    private final List<StageProgram> programs = new ArrayList<>();

    @Override
    protected RoundExecutor inner() {
      return inner;
    }

    @Override
    public Result execute(StageProgram p, StageInput in, double tolerance, RowSink sink) {
      programs.add(p);
      return super.execute(p, in, tolerance, sink);
    }
  }

  /** Runs a task with plans that others have left; what it took is the first of the programs. */
  private static StageProgram program(
      KeptPlans<PreparedTask> plans, SubtreeProblem problem, FactorOptions options, String what) {
    var executor = new Programs();
    var staged = new StagedFactorization("reference", executor, new CpuSubtreeFactorizer(), plans);
    SubtreeFactor actual = staged.factor(problem, options);
    staged.keepPlans();
    try (var fresh = new ReferenceSubtreeFactorizer(MIXED)) {
      DeviceBits.assertSameRows(actual, fresh.factor(problem, options), what);
    }
    return executor.programs.get(0);
  }

  @Test
  void aPlanIsLeftToLaterFactorizationsOfTheSameStructure() throws Exception {
    var c = new Case(Gallery.generate("gen:cells2d14"));
    var options = new FactorOptions(c.tolerance, 2, 0);
    var plans = new KeptPlans<PreparedTask>();
    StageProgram first = program(plans, c.problem(c.a, 9), options, "the first");
    CsrMatrix b = TestMatrices.scale(c.a, 3);
    assertThat(program(plans, c.problem(b, 8), options, "other values")).isSameAs(first);
    // as an executor reads it
    var there = new Case(c.a, copy(c.analysis), c.tolerance);
    assertThat(program(plans, there.problem(b, 7), options, "another copy")).isSameAs(first);

    // not for tasks that would be planned otherwise
    var reversed = new Case(c.a, reversed(c.a), c.tolerance);
    var another = new Case(c.a);
    for (var other :
        List.of(
            program(plans, another.problem(c.a, 9), options, "another run of the analysis"),
            program(plans, reversed.problem(c.a, 9), options, "another order"),
            program(plans, c.problem(c.a, 9), new FactorOptions(c.tolerance, 1, 0), "a thread"),
            program(plans, c.problem(c.a, 9), new FactorOptions(-1, 2, 0), "no detection"))) {
      assertThat(other).isNotSameAs(first);
    }
    assertThat(program(plans, c.problem(c.a, 9), options, "again")).isSameAs(first);
    StageProgram repeated = program(plans, c.problem(c.a, 9), options.safely(), "after a fault");
    assertThat(repeated).isNotSameAs(first);
  }

  private static SymbolicAnalysis reversed(CsrMatrix a) {
    int[] order = new int[a.columns()];
    Arrays.setAll(order, k -> a.columns() - 1 - k);
    SymbolicOptions given = SymbolicOptions.defaults().withGiven(new Permutation(order));
    return SymbolicAnalyzer.analyze(a.pattern(), given.withSingletons(false));
  }

  private static SymbolicAnalysis copy(SymbolicAnalysis a) throws Exception {
    var bytes = new ByteArrayOutputStream();
    try (var out = new ObjectOutputStream(bytes)) {
      out.writeObject(a);
    }
    try (var in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (SymbolicAnalysis) in.readObject();
    }
  }
}
