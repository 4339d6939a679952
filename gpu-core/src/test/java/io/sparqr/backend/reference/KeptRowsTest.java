/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.solve.ItemList;
import io.sparqr.backend.staged.solve.SolveItem;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Rows of R left on an executor: order of the items, changed rows, wrong solves, refusals. */
class KeptRowsTest {

  private static final SubtreeProblem PROBLEM = DeviceCases.whole("gen:cells2d20");
  private static final FactorOptions OPTIONS = new FactorOptions(1e-10, 2, 0).staying(true);

  private static Residence residence(
      IntUnaryOperator order,
      UnaryOperator<KeptRows> change,
      SubtreeProblem problem,
      FactorOptions options) {
    return factor(order, change, problem, options).residence();
  }

  static SubtreeFactor factor(
      IntUnaryOperator order,
      UnaryOperator<KeptRows> change,
      SubtreeProblem problem,
      FactorOptions options) {
    return factor(order, change, problem, options, (method, arguments) -> {});
  }

  /** Changes the arguments of a method of the executor after its call. */
  private interface Change {
    void after(String method, Object[] arguments);
  }

  private static SubtreeFactor factor(
      IntUnaryOperator order,
      UnaryOperator<KeptRows> change,
      SubtreeProblem problem,
      FactorOptions options,
      Change later) {
    var plain =
        order == null
            ? new TaskListExecutor(SchedulerOptions.defaults())
            : new TaskListExecutor(SchedulerOptions.defaults(), order);
    var executor =
        (RoundExecutor)
            Proxy.newProxyInstance(
                KeptRowsTest.class.getClassLoader(),
                new Class<?>[] {RoundExecutor.class},
                (proxy, method, arguments) -> {
                  Object result = method.invoke(plain, arguments);
                  later.after(method.getName(), arguments);
                  return method.getName().equals("keep")
                      ? ((Optional<?>) result).flatMap(k -> changed(change, (KeptRows) k))
                      : result;
                });
    var backend = new ReferenceSubtreeFactorizer(executor);
    try (var checked = new CheckedFactorizer(backend, new HeathFactorizer())) {
      return checked.factor(problem, options);
    }
  }

  private static Optional<KeptRows> changed(UnaryOperator<KeptRows> change, KeptRows rows) {
    return Optional.ofNullable(change.apply(rows));
  }

  private static double[] right(SubtreeProblem problem, long seed) {
    var random = new Random(seed);
    int pivots = 0;
    for (int f : problem.fronts()) {
      pivots += problem.analysis().fp(f);
    }
    return random.doubles(pivots, -1, 1).toArray();
  }

  /** Whatever order the items' counts allow, the bits are the same. */
  @Test
  void anyOrderGivesTheSameBits() {
    int[] many = sameBitsInAnyOrder("many fronts", PROBLEM);
    assertThat(many).as("fronts of one item, of more").hasSizeGreaterThan(40).contains(0, 1);
    int[] large = sameBitsInAnyOrder("two large fronts", DeviceCases.twoLargeFronts());
    assertThat(large).as("steps of the fronts").containsExactly(5, 9);
  }

  /** Solves in several orders; the steps of each front, 0 for one that is a single item. */
  private static int[] sameBitsInAnyOrder(String what, SubtreeProblem problem) {
    var rows = new AtomicReference<HeapRows>();
    double[] c = right(problem, 3);
    double[] x = null;
    for (long seed = 0; seed < 4; seed++) {
      var random = new Random(seed);
      ResidentFactor r =
          residence(seed == 0 ? null : random::nextInt, noted(rows), problem, OPTIONS)
              .factor()
              .orElseThrow();
      double[] next = r.solve(c, 1).orElseThrow();
      x = x == null ? next : x;
      assertThat(next).as("%s, seed %d", what, seed).isEqualTo(x);
    }
    int[] forward = steps(rows.get().lists.forward());
    assertThat(steps(rows.get().lists.back())).containsExactlyInAnyOrder(forward);
    return forward;
  }

  private static int[] steps(ItemList list) {
    var steps = new TreeMap<Integer, Integer>();
    for (int k = 0; k < list.size(); k++) {
      SolveItem t = SolveItem.read(list.items(), k);
      steps.merge(t.start(), t.kind() == SolveItem.TRIANGLE ? 1 : 0, Integer::sum);
    }
    return steps.values().stream().mapToInt(n -> n).toArray();
  }

  static UnaryOperator<KeptRows> noted(AtomicReference<HeapRows> rows) {
    return k -> {
      rows.set((HeapRows) k);
      return k;
    };
  }

  /** A bit that changes in the rows, in any of them, is found by the next solve. */
  @Test
  void aChangedRowIsFound() {
    var rows = new AtomicReference<HeapRows>();
    ResidentFactor r = residence(null, noted(rows), PROBLEM, OPTIONS).factor().orElseThrow();
    double[] c = right(PROBLEM, 4);
    double[] x = r.solve(c, 1).orElseThrow();
    double[] out = rows.get().out;
    var random = new Random(5);
    for (int k = 0; k < 20; k++) {
      int at = random.nextInt(out.length);
      double before = out[at];
      out[at] = Double.longBitsToDouble(Double.doubleToRawLongBits(before) ^ 1);
      assertThatThrownBy(() -> r.solve(c, 1))
          .as("value %d", at)
          .isInstanceOf(IntegrityFailure.class)
          .hasMessageContaining("R has changed");
      assertThatThrownBy(() -> r.solveStored(new double[0]))
          .as("value %d", at)
          .isInstanceOf(IntegrityFailure.class)
          .hasMessageContaining("R has changed");
      out[at] = before;
    }
    assertThat(r.solve(c, 1).orElseThrow()).isEqualTo(x);
  }

  @Test
  void aWrongSolveIsRefused() {
    for (double error : new double[] {1e-11, Double.NaN, 1e308}) {
      ResidentFactor r =
          residence(null, k -> new Wrong(k, error), PROBLEM, OPTIONS).factor().orElseThrow();
      assertThatThrownBy(() -> r.solve(right(PROBLEM, 1), 1))
          .as("error %s", error)
          .isInstanceOf(IntegrityFailure.class)
          .hasMessageContaining("backward error");
      assertThatThrownBy(() -> r.solveStored(new double[0]))
          .as("error %s", error)
          .isInstanceOf(IntegrityFailure.class)
          .hasMessageContaining("backward error");
    }
  }

  /** Rows whose solves have another backward error. */
  private record Wrong(KeptRows rows, double error) implements KeptRows {
    @Override
    public long bytes() {
      return rows.bytes();
    }

    @Override
    public Optional<Solved> solve(double[] c, int rhs) {
      return rows.solve(c, rhs).map(n -> new Solved(n.x(), error, n.bits()));
    }

    @Override
    public Optional<Solved> forward(double[] c, int rhs) {
      return rows.forward(c, rhs).map(n -> new Solved(n.x(), error, n.bits()));
    }

    @Override
    public Optional<Solved> back(double[] given, int rhs) {
      return rows.back(given, rhs).map(n -> new Solved(n.x(), error, n.bits()));
    }

    @Override
    public Optional<Solved> solveStored(double[] outside) {
      return rows.solveStored(outside).map(n -> new Solved(n.x(), error, n.bits()));
    }

    @Override
    public OptionalLong bits() {
      return rows.bits();
    }

    @Override
    public int outside() {
      return rows.outside();
    }

    @Override
    public int terms() {
      return rows.terms();
    }

    @Override
    public boolean read(int threads, Piece into) {
      return rows.read(threads, into);
    }

    @Override
    public void claimed(ResidentFactor.Claim claim) {
      rows.claimed(claim);
    }

    @Override
    public boolean areThere() {
      return rows.areThere();
    }

    @Override
    public void close() {
      rows.close();
    }
  }

  /** A subtree of the problem, whose root passes a block on. */
  private static SubtreeProblem part() {
    return DeviceCases.part("gen:cells2d20");
  }

  /**
   * R alone on the executor, with blocks that leave it: a bit that changes on a block's way to the
   * host is found, and the task done again; one in R is found by each solve, one in the copy of the
   * block that stays beside R is nobody's.
   */
  @Test
  void blocksThatLeaveAreConfirmedByTheRowsThatStay() {
    SubtreeProblem part = part();
    FactorOptions alone = OPTIONS.alone(true);
    SubtreeFactor expected = factor(null, k -> k, part, OPTIONS.staying(false));
    var rows = new AtomicReference<HeapRows>();
    SubtreeFactor good = factor(null, noted(rows), part, alone);
    assertThat(good.residence().alone()).isTrue();
    requireSameBlocks(good, expected);
    ResidentFactor r = good.residence().factor().orElseThrow();
    double[] c = right(part, 2);
    double[] y = r.forward(c, 1).orElseThrow();
    assertThat(y).hasSizeGreaterThan(c.length);
    assertThatThrownBy(() -> r.solve(c, 1)).isInstanceOf(IllegalArgumentException.class);

    double[] given = y.clone();
    double[] x = r.back(given, 1).orElseThrow();
    double[] out = rows.get().out;
    SolveItem root = SolveItem.read(rows.get().lists.back().items(), 0);
    flip(out, (int) root.out());
    for (ThrowingCallable solve :
        List.<ThrowingCallable>of(
            () -> r.forward(c, 1),
            () -> r.back(given, 1),
            () -> r.solveStored(new double[y.length - c.length]))) {
      assertThatThrownBy(solve)
          .isInstanceOf(IntegrityFailure.class)
          .hasMessageContaining("R has changed");
    }
    flip(out, (int) root.out());
    // the block's first value follows the root's last row
    int rank = root.fp();
    flip(out, (int) root.out() + rank * root.fn() - rank * (rank - 1) / 2);
    assertThat(r.forward(c, 1).orElseThrow()).isEqualTo(y);
    assertThat(r.back(given, 1).orElseThrow()).isEqualTo(x);

    var copied = new AtomicInteger();
    SubtreeFactor again =
        factor(
            null,
            k -> k,
            part,
            alone,
            (method, arguments) -> {
              if (method.equals("copyRows") && copied.incrementAndGet() == 1) {
                flip(((RoundExecutor.Slice) ((List<?>) arguments[0]).get(0)).target(), 0);
              }
            });
    assertThat(copied).hasValue(1);
    assertThat(again.summary().redoneTasks()).isEqualTo(1);
    assertThat(again.residence().factor()).isEmpty();
    requireSameBlocks(again, expected);
  }

  private static void requireSameBlocks(SubtreeFactor factor, SubtreeFactor expected) {
    assertThat(factor.outputs()).hasSameSizeAs(expected.outputs()).isNotEmpty();
    for (int k = 0; k < factor.outputs().size(); k++) {
      ContributionBlock block = factor.outputs().get(k);
      ContributionBlock other = expected.outputs().get(k);
      assertThat(block.front()).isEqualTo(other.front());
      assertThat(block.values()).isEqualTo(other.values());
      assertThat(block.rhs()).isEqualTo(other.rhs());
    }
  }

  private static void flip(double[] values, int at) {
    values[at] = Double.longBitsToDouble(Double.doubleToRawLongBits(values[at]) ^ 1);
  }

  /** Q kept, a task that was done again, too little memory for one stage. */
  @Test
  void whereRDoesNotStayThereIsAReason() {
    var withQ = new FactorOptions(1e-10, 2, 0, true).staying(true);
    assertThat(residence(null, k -> k, PROBLEM, withQ).reason()).contains("Q is kept");
    assertThat(residence(null, k -> k, PROBLEM, OPTIONS.safely()).reason()).contains("again");
    assertThat(residence(null, k -> k, PROBLEM, OPTIONS.staying(false)).reason()).isEmpty();
    long need;
    try (var plain = new ReferenceSubtreeFactorizer(SchedulerOptions.defaults())) {
      need = plain.factor(PROBLEM, OPTIONS).summary().peakDeviceBytes();
    }
    var small = new FactorOptions(1e-10, 2, need / 2).staying(true);
    Residence staged = residence(null, k -> k, PROBLEM, small);
    assertThat(staged.factor()).isEmpty();
    assertThat(staged.reason()).contains("several stages");
  }
}
