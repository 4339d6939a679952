/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static io.sparqr.numeric.FrontFactors.requireSame;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.storage.RowBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** R that stays in device memory between tasks: its life, its room, its bits. */
@Tag("gpu")
class CudaResidentTest {

  private static final String SHARE = "sparqr.cuda.residentShare";
  private static final String SECONDS = "sparqr.cuda.residentSeconds";
  private static final String HOST = "sparqr.factor.memory";
  private static final SubtreeProblem PROBLEM = DeviceCases.whole("gen:cells3d12");

  private DeviceSessions sessions;
  private long before;
  private long budgeted;

  @BeforeEach
  void open() {
    TestDevice.driver();
    before = LiveResources.total();
    budgeted = RowBudget.ofJvm().memoryBytes();
    sessions = new DeviceSessions(TestDevice.driver(), 200);
  }

  @AfterEach
  void nothingIsLeft() {
    System.clearProperty(SHARE);
    System.clearProperty(SECONDS);
    System.clearProperty(HOST);
    sessions.closeIdle();
    assertThat(LiveResources.total()).isEqualTo(before);
    assertThat(RowBudget.ofJvm().memoryBytes()).isEqualTo(budgeted);
  }

  private Residence residence(SubtreeProblem problem) {
    try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
      return device.factor(problem, new FactorOptions(1e-10, 4, 0).staying(true)).residence();
    }
  }

  private static double[] right(SubtreeProblem problem, long seed) {
    int pivots = 0;
    for (int f : problem.fronts()) {
      pivots += problem.analysis().fp(f);
    }
    return new Random(seed).doubles(pivots, -1, 1).toArray();
  }

  @Test
  void outlivesItsTaskUntilItIsClosed() throws InterruptedException {
    double[] c = right(PROBLEM, 1);
    ResidentFactor first = residence(PROBLEM).factor().orElseThrow();
    ResidentFactor second = residence(PROBLEM).factor().orElseThrow();
    assertThat(first.bytes()).isGreaterThan(8L * c.length).isEqualTo(second.bytes());
    double[] x = first.solve(c, 1).orElseThrow();
    // longer than the session would be kept without it
    Thread.sleep(700);
    assertThat(first.solve(c, 1).orElseThrow()).isEqualTo(x);
    assertThat(second.solve(c, 1).orElseThrow()).as("another task").isEqualTo(x);
    first.close();
    first.close();
    assertThat(first.solve(c, 1)).isEmpty();
    assertThat(second.solve(c, 1).orElseThrow()).isEqualTo(x);
    second.close();
    for (int k = 0; LiveResources.total() > before && k < 100; k++) {
      Thread.sleep(50);
    }
    assertThat(LiveResources.total()).as("the idle session is closed").isEqualTo(before);
  }

  @Test
  void isFreedWhenItIsNotUsed() throws InterruptedException {
    System.setProperty(SECONDS, "0.3");
    ResidentFactor r = residence(PROBLEM).factor().orElseThrow();
    for (int k = 0; LiveResources.total() > before && k < 100; k++) {
      Thread.sleep(50);
    }
    assertThat(LiveResources.total()).isEqualTo(before);
    assertThat(r.solve(right(PROBLEM, 1), 1)).isEmpty();
  }

  @Test
  void theLeastRecentlyUsedGivesWay() {
    double[] c = right(PROBLEM, 2);
    ResidentFactor first = residence(PROBLEM).factor().orElseThrow();
    long each;
    double share;
    try (var lease = sessions.acquire(0)) {
      each = lease.session().residents().bytes();
      share = 2.5 * each / lease.session().device().totalBytes();
    }
    System.setProperty(SHARE, Double.toString(share));
    ResidentFactor second = residence(PROBLEM).factor().orElseThrow();
    assertThat(first.solve(c, 1)).isPresent();
    ResidentFactor third = residence(PROBLEM).factor().orElseThrow();
    assertThat(second.solve(c, 1)).as("used before the first").isEmpty();
    assertThat(first.solve(c, 1)).isPresent();
    assertThat(third.solve(c, 1)).isPresent();
    System.setProperty(SHARE, Double.toString(share / 5));
    Residence none = residence(PROBLEM);
    assertThat(none.factor()).isEmpty();
    assertThat(none.reason()).contains("no room");
    System.setProperty(SHARE, "0");
    assertThat(residence(PROBLEM).factor()).isEmpty();
  }

  @Test
  void rightHandSidesTooManyForABufferAreRefusedAndRStays() {
    try (ResidentFactor r = residence(PROBLEM).factor().orElseThrow()) {
      double[] unread = new double[0];
      assertThatThrownBy(() -> r.back(unread, 1 << 20))
          .isInstanceOf(InsufficientMemoryException.class)
          .hasMessageContaining("1048576 right-hand sides of 1728 columns exceed a buffer");
      assertThatThrownBy(() -> r.solve(unread, Integer.MAX_VALUE))
          .isInstanceOf(InsufficientMemoryException.class);
      assertThat(r.solve(right(PROBLEM, 3), 1)).isPresent();
    }
  }

  @Test
  void severalRightHandSidesAndThreadsTheSameBits() throws Exception {
    ResidentFactor r = residence(PROBLEM).factor().orElseThrow();
    List<double[]> c = new ArrayList<>();
    List<double[]> x = new ArrayList<>();
    for (int k = 0; k < 4; k++) {
      c.add(right(PROBLEM, k));
      x.add(r.solve(c.get(k), 1).orElseThrow());
    }
    int n = c.get(0).length;
    double[] together = new double[4 * n];
    for (int k = 0; k < 4; k++) {
      for (int j = 0; j < n; j++) {
        together[4 * j + k] = c.get(k)[j];
      }
    }
    double[] all = r.solve(together, 4).orElseThrow();
    for (int k = 0; k < 4; k++) {
      for (int j = 0; j < n; j++) {
        assertThat(all[4 * j + k]).as("x %d of %d", j, k).isEqualTo(x.get(k)[j]);
      }
    }
    var threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<double[]>> found = new ArrayList<>();
      for (int k = 0; k < 16; k++) {
        int which = k % 4;
        found.add(threads.submit(() -> r.solve(c.get(which), 1).orElseThrow()));
      }
      for (int k = 0; k < 16; k++) {
        assertThat(found.get(k).get()).isEqualTo(x.get(k % 4));
      }
    } finally {
      threads.shutdown();
    }
  }

  /** As a task that keeps no R solves, also beside other solves. */
  @Test
  void theStoredRightHandSidesAreSolvedWithTheSameBits() {
    double[] x;
    try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
      var alone = new FactorOptions(1e-10, 4, 0).forSolution(true);
      x = device.factor(PROBLEM, alone).solution().orElseThrow().x();
    }
    ResidentFactor r = residence(PROBLEM).factor().orElseThrow();
    double[] c = right(PROBLEM, 6);
    double[] other = r.solve(c, 1).orElseThrow();
    for (int k = 0; k < 3; k++) {
      assertThat(r.solveStored(new double[0]).orElseThrow()).as("%d", k).isEqualTo(x);
      assertThat(r.solve(c, 1).orElseThrow()).as("%d", k).isEqualTo(other);
    }
    r.close();
    assertThat(r.solveStored(new double[0])).isEmpty();
  }

  /** The rows leave the executor's memory, the structure stays there for the next task. */
  @Test
  void theNextTaskOfTheSameStructureSendsValuesAlone() {
    double[] c = right(PROBLEM, 5);
    var options = new FactorOptions(1e-10, 4, 0).staying(true);
    try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
      var first = device.factor(PROBLEM, options);
      double[] x = first.residence().factor().orElseThrow().solve(c, 1).orElseThrow();
      for (int k = 0; k < 3; k++) {
        var next = device.factor(PROBLEM, options);
        assertThat(next.residence().factor().orElseThrow().solve(c, 1).orElseThrow())
            .as("task %d", k)
            .isEqualTo(x);
        assertThat(next.summary().h2dBytes()).isLessThan(first.summary().h2dBytes() / 2);
      }
      var gone = device.factor(PROBLEM, new FactorOptions(1e-10, 4, 0).forSolution(true));
      assertThat(gone.solution()).isPresent();
    }
  }

  /** Steps of large fronts, and many small ones. */
  @Test
  void repeatedSolvesHaveTheSameBits() {
    for (String matrix : new String[] {"gen:cells3d20", "gen:cells2d100", "gen:nug8:rand"}) {
      SubtreeProblem problem = DeviceCases.whole(matrix);
      ResidentFactor r = residence(problem).factor().orElseThrow();
      double[] c = right(problem, 3);
      double[] x = r.solve(c, 1).orElseThrow();
      for (int k = 0; k < 20; k++) {
        assertThat(r.solve(c, 1).orElseThrow()).as("%s, %d", matrix, k).isEqualTo(x);
      }
    }
  }

  private SubtreeFactor alone(SubtreeProblem problem) {
    try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
      var options = new FactorOptions(1e-10, 4, 0).staying(true).alone(true);
      SubtreeFactor factor = device.factor(problem, options);
      assertThat(factor.residence().alone()).isTrue();
      assertThat(factor.fronts()).isEmpty();
      return factor;
    }
  }

  /** R that is nowhere else: the rows that are downloaded otherwise, before solves and after. */
  @Test
  void rowsThatStayedAloneAreThoseThatAreReturnedOtherwise() {
    for (String matrix : new String[] {"gen:cells3d20", "gen:cells2d100", "gen:nug8:rand"}) {
      SubtreeProblem problem = DeviceCases.whole(matrix);
      SubtreeFactor beside;
      try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
        beside = device.factor(problem, new FactorOptions(1e-10, 4, 0).staying(true));
      }
      SubtreeFactor alone = alone(problem);
      assertThat(alone.summary().d2hBytes()).isLessThan(beside.summary().d2hBytes() / 2);
      ResidentFactor there = alone.residence().factor().orElseThrow();
      assertThat(there.entries())
          .isEqualTo(beside.fronts().stream().mapToLong(FrontFactor::length).sum());
      double[] c = right(problem, 8);
      assertThat(there.solve(c, 1).orElseThrow())
          .isEqualTo(beside.residence().factor().orElseThrow().solve(c, 1).orElseThrow());
      requireSame(there.fetch(RowMemory.HEAP, 4).orElseThrow(), beside.fronts());
      requireSame(there.fetch(RowMemory.HEAP, 1).orElseThrow(), beside.fronts());
      there.close();
      assertThat(there.fetch(RowMemory.HEAP, 4)).isEmpty();
      beside.residence().close();
    }
  }

  /** What somebody has who keeps no other copy. */
  private record Fetched(ResidentFactor from, AtomicReference<List<FrontFactor>> rows)
      implements ResidentFactor.Claim {

    static Fetched claim(ResidentFactor r) {
      var claim = new Fetched(r, new AtomicReference<>());
      r.claimed(claim);
      return claim;
    }

    @Override
    public boolean stands() {
      return rows.get() == null;
    }

    @Override
    public void take() {
      rows.set(from.fetch(RowMemory.HEAP, 2).orElseThrow());
    }
  }

  /** Room for so many times what is there now. */
  private void share(double times) {
    try (var lease = sessions.acquire(0)) {
      double all = lease.session().device().totalBytes();
      double share = times * lease.session().residents().bytes() / all;
      System.setProperty(SHARE, Double.toString(share));
    }
  }

  /**
   * Moved to page-locked memory by newer rows, and fetched there; brought back by a solve, moved
   * again without another copy; without room on the device, solved with where they are.
   */
  @Test
  void rowsThatAreClaimedMoveToTheHostAndBack() {
    for (String matrix : new String[] {"gen:cells3d20", "gen:cells2d100", "gen:nug8:rand"}) {
      System.clearProperty(SHARE);
      SubtreeProblem problem = DeviceCases.whole(matrix);
      ResidentFactor first = alone(problem).residence().factor().orElseThrow();
      Fetched claim = Fetched.claim(first);
      List<FrontFactor> expected = first.fetch(RowMemory.HEAP, 2).orElseThrow();
      double[] c = right(problem, 4);
      double[] x = first.solve(c, 1).orElseThrow();
      double[] stored = first.solveStored(new double[0]).orElseThrow();
      long bytes = first.bytes();
      // room for one R and for what solves need beside three, which is much for small problems
      share(1.9);

      ResidentFactor second = alone(problem).residence().factor().orElseThrow();
      Fetched.claim(second);
      assertThat(claim.rows.get()).as("%s", matrix).isNull();
      long rows = RowBudget.ofJvm().memoryBytes() - budgeted;
      assertThat(rows).isGreaterThanOrEqualTo(8 * first.entries());
      assertThat(first.bytes()).isEqualTo(bytes - rows);
      requireSame(first.fetch(RowMemory.HEAP, 4).orElseThrow(), expected);

      // the second leaves for the first, and the other way round
      assertThat(first.solve(c, 1).orElseThrow()).as("%s", matrix).isEqualTo(x);
      assertThat(first.bytes()).as("back").isEqualTo(bytes);
      assertThat(second.bytes()).isEqualTo(bytes - rows);
      assertThat(second.solve(c, 1).orElseThrow()).isEqualTo(x);
      assertThat(second.solveStored(new double[0]).orElseThrow()).isEqualTo(stored);
      assertThat(second.bytes()).isEqualTo(bytes);
      assertThat(first.bytes()).isEqualTo(bytes - rows);
      assertThat(RowBudget.ofJvm().memoryBytes() - budgeted).isEqualTo(2 * rows);

      ResidentFactor third = alone(problem).residence().factor().orElseThrow();
      assertThat(second.bytes()).as("moved again").isEqualTo(bytes - rows);
      System.setProperty(SHARE, "0");
      for (int k = 0; k < 3; k++) {
        assertThat(first.solve(c, 1).orElseThrow()).as("%s", matrix).isEqualTo(x);
        assertThat(first.solveStored(new double[0]).orElseThrow()).isEqualTo(stored);
      }
      assertThat(first.bytes()).as("over the bus").isEqualTo(bytes - rows);
      assertThat(RowBudget.ofJvm().memoryBytes() - budgeted).isEqualTo(2 * rows);
      assertThat(third.solve(c, 1)).as("nobody's, and in the way").isEmpty();
      second.close();
      first.close();
      assertThat(RowBudget.ofJvm().memoryBytes()).isEqualTo(budgeted);
    }
  }

  /** On a host without room they are fetched as before; on the host, before they get too old. */
  @Test
  void claimedRowsAreTakenBeforeTheyGiveWay() throws InterruptedException {
    System.setProperty(HOST, "0");
    ResidentFactor first = alone(PROBLEM).residence().factor().orElseThrow();
    List<FrontFactor> expected = first.fetch(RowMemory.HEAP, 2).orElseThrow();
    Fetched one = Fetched.claim(first);
    share(1.5);
    ResidentFactor second = alone(PROBLEM).residence().factor().orElseThrow();
    requireSame(one.rows.get(), expected);
    assertThat(first.fetch(RowMemory.HEAP, 2)).isEmpty();

    System.clearProperty(HOST);
    Fetched two = Fetched.claim(second);
    ResidentFactor third = alone(PROBLEM).residence().factor().orElseThrow();
    Fetched three = Fetched.claim(third);
    assertThat(two.rows.get()).as("moved").isNull();
    System.setProperty(SECONDS, "0.1");
    for (int k = 0; LiveResources.total() > before && k < 100; k++) {
      Thread.sleep(50);
    }
    assertThat(LiveResources.total()).isEqualTo(before);
    requireSame(two.rows.get(), expected);
    requireSame(three.rows.get(), expected);

    ResidentFactor fourth = alone(PROBLEM).residence().factor().orElseThrow();
    Fetched four = Fetched.claim(fourth);
    fourth.close();
    assertThat(four.rows.get()).as("closed by its owner").isNull();
  }
}
