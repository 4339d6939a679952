/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.backend.reference.TaskListExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A task that fails the check is repeated, counted and reported, or ends in an error. */
class CheckedFactorizerTest {

  /** A backend that changes the sign of an entry of one front on demand. */
  private static final class Faulty implements SubtreeFactorizer {
    private final SubtreeFactorizer inner = new CpuSubtreeFactorizer();
    private final int front;
    private final BiPredicate<Integer, FactorOptions> wrong;
    private final boolean checks;
    final List<FactorOptions> calls = new ArrayList<>();
    boolean closed;

    /** Wrong if a predicate of the call's number and options says so. */
    Faulty(int front, boolean checks, BiPredicate<Integer, FactorOptions> wrong) {
      this.front = front;
      this.checks = checks;
      this.wrong = wrong;
    }

    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      SubtreeFactor r = inner.factor(problem, options);
      if (wrong.test(calls.size(), options)) {
        for (FrontFactor f : r.fronts()) {
          if (f.front() == front) {
            f.values().put(1, -f.values().get(1));
          }
        }
      }
      calls.add(options);
      if (checks) {
        TaskCheck.verify(problem, r, options);
      }
      return r;
    }

    @Override
    public boolean checksItself() {
      return checks;
    }

    @Override
    public String description() {
      return "faulty";
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private static IntegrityCases.Case grid(long seed) {
    var random = new Random(seed);
    var grid = Gallery.generate("gen:cells2d12");
    return IntegrityCases.of(
        "grid, seed " + seed, grid, TestMatrices.vector(grid.rows(), random), 1, random);
  }

  private static void same(SubtreeFactor actual, SubtreeProblem problem, FactorOptions o) {
    SubtreeFactor expected = new CpuSubtreeFactorizer().factor(problem, o);
    assertThat(actual.fronts()).hasSameSizeAs(expected.fronts());
    for (int f = 0; f < expected.fronts().size(); f++) {
      assertThat(TestMatrices.rowsOfR(actual.fronts().get(f)))
          .isEqualTo(TestMatrices.rowsOfR(expected.fronts().get(f)));
      assertThat(actual.fronts().get(f).rhs()).isEqualTo(expected.fronts().get(f).rhs());
    }
    assertThat(actual.outputs()).hasSameSizeAs(expected.outputs());
    assertThat(actual.residualSquares()[0])
        .isCloseTo(
            expected.residualSquares()[0],
            within(Tolerances.REORDERED * expected.residualSquares()[0]));
  }

  @Test
  void whatIsRightIsLeftAlone() {
    var c = grid(1);
    var o = new FactorOptions(c.tolerance(), 2, 0);
    var right = new Faulty(0, false, (call, options) -> false);
    var host = new Faulty(0, false, (call, options) -> false);
    try (var checked = new CheckedFactorizer(right, host)) {
      SubtreeFactor r = checked.factor(c.problem(), o);
      same(r, c.problem(), o);
      assertThat(r.summary().redoneTasks()).isZero();
      assertThat(r.summary().warnings()).isEmpty();
      assertThat(r.summary().normDeparture()).isBetween(Tolerances.EPS / 200, Tolerances.DEPARTURE);
      assertThat(host.calls).isEmpty();
    }
    assertThat(right.closed && host.closed).isTrue();
  }

  @Test
  void aWrongResultIsComputedAgainFrontByFront() {
    var c = grid(2);
    var o = new FactorOptions(c.tolerance(), 1, 0);
    var first = new Faulty(3, false, (call, options) -> call == 0);
    try (var checked = new CheckedFactorizer(first, new CpuSubtreeFactorizer())) {
      SubtreeFactor r = checked.factor(c.problem(), o);
      same(r, c.problem(), o);
      assertThat(r.summary().redoneTasks()).isEqualTo(1);
      assertThat(r.summary().fronts()).isEqualTo(c.problem().fronts().length);
      assertThat(r.summary().normDeparture()).isBetween(Tolerances.EPS / 200, Tolerances.DEPARTURE);
      assertThat(r.summary().warnings())
          .singleElement()
          .asString()
          .contains("a task was done again", "faulty", "departs by");
    }
  }

  /**
   * A device first repeats a task without its faster methods; only then does the host take over.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aDeviceGoesTheSafeWay(boolean safeIsWrongToo) {
    var c = grid(3);
    var o = new FactorOptions(c.tolerance(), 1, 0, true);
    var device = new Faulty(2, true, (call, options) -> safeIsWrongToo || !options.safe());
    var host = new Faulty(2, false, (call, options) -> false);
    try (var checked = new CheckedFactorizer(device, host)) {
      SubtreeFactor r = checked.factor(c.problem(), o);
      same(r, c.problem(), o);
      assertThat(device.calls).hasSize(2);
      assertThat(device.calls.get(1)).isEqualTo(o.safely());
      assertThat(host.calls).hasSize(safeIsWrongToo ? c.problem().fronts().length : 0);
      assertThat(r.summary().redoneTasks()).isEqualTo(1);
      assertThat(r.summary().warnings()).hasSize(safeIsWrongToo ? 2 : 1);
      assertThat(r.reflectors()).hasSize(c.problem().fronts().length);
    }
  }

  @Test
  void whatStaysWrongIsAnErrorThatNamesFrontAndColumn() {
    var c = grid(4);
    var o = new FactorOptions(c.tolerance(), 1, 0);
    for (int front : new int[] {0, 5, c.problem().fronts().length - 2}) {
      try (var checked =
          new CheckedFactorizer(
              new Faulty(front, false, (call, options) -> true),
              new Faulty(front, false, (call, options) -> true))) {
        var e =
            catchThrowableOfType(
                NumericalIntegrityException.class, () -> checked.factor(c.problem(), o));
        var a = c.problem().analysis();
        int[] columns = new int[a.fn(front)];
        Arrays.setAll(columns, k -> a.permutation().original(a.column(front, k)));
        assertThat(e.front()).isEqualTo(front);
        assertThat(columns).contains(e.column().orElseThrow());
        assertThat(e.departure()).isGreaterThan(e.bound());
        assertThat(e.bound()).isBetween(Tolerances.DEPARTURE / 10, 100 * Tolerances.DEPARTURE);
        assertThat(e.task()).isEmpty();
        assertThat(e.ofTask(7))
            .hasMessageStartingWith(
                "task 7, front " + front + ", column " + e.column().orElseThrow());
      }
    }
  }

  /** Dead columns on the plain executor: the host's work is checked as well. */
  @Test
  void aHostThatIsWrongOnceIsDoneAgain() {
    var random = new Random(5);
    var a = TestMatrices.ofRank(60, 30, 17, random);
    var c = IntegrityCases.of("low rank", a, TestMatrices.vector(60, random), 1, new Random(11));
    assertThat(c.tolerance()).isPositive();
    var host = new Faulty(0, false, (call, options) -> call == 0);
    var o = new FactorOptions(c.tolerance(), 1, 0);
    var executor = new TaskListExecutor(SchedulerOptions.defaults());
    var staged = new StagedFactorization("plain", executor, host);
    SubtreeFactor r = staged.factor(c.problem(), o);
    assertThat(r.summary().redoneTasks()).isEqualTo(1);
    assertThat(r.summary().warnings()).hasSize(1);
    assertThat(TaskCheck.verify(c.problem(), r, o)).isLessThan(Tolerances.of(60, 30, 1));
    try (var plain = new ReferenceSubtreeFactorizer()) {
      assertThat(plain.factor(c.problem(), o).summary().redoneTasks()).isZero();
    }
  }
}
