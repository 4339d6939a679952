/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.CudaBackendProvider;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.CapturedLog;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.engine.Foreground;
import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.metrics.AtStart;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The warm-up in a local master's JVM: what it leaves, when it ends, what its failure does. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class WarmupTest {

  private static final double LONGEST = 100;
  private static final CsrMatrix A = Gallery.generate("gen:cells2d20");

  private final JavaSparkContext context = LocalSpark.context();
  private final CountDownLatch latch = new CountDownLatch(1);

  @AfterEach
  void release() {
    latch.countDown();
    noneRuns();
  }

  @BeforeEach
  void noneRuns() {
    Warmup.end();
    assertThat(Warmup.last().map(w -> w.await(LONGEST)).orElse(true)).isTrue();
  }

  /** A warm-up whose first step of two waits, which it does when this returns. */
  private Warmup waiting() {
    var entered = new CountDownLatch(1);
    Warmup w =
        Warmup.begin(
            LONGEST,
            () ->
                List.of(
                    () -> {
                      entered.countDown();
                      await(latch);
                    },
                    () -> {}));
    await(entered);
    return w;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private double[] solve() {
    return GpuSparseQR.solve(Problems.rdd(A, 2, DefaultRightHandSide.of(A))).x();
  }

  @Test
  void solvesSmallProblemsAndLeavesNothingBehind() throws InterruptedException {
    var kept = context.getPersistentRDDs().keySet();
    List<String> jobs = jobsDuring(() -> ran(Map.of("spark.sparqr.warmup", "4")));
    assertThat(jobs).hasSizeGreaterThan(1).first().asString().startsWith("sparse QR: ");
    // of a factorization that keeps R
    assertThat(jobs).contains("sparse QR: rows to the tasks of their fronts");
    assertThat(Warmup.last().orElseThrow().outcome().solves()).isPositive();
    assertThat(context.getPersistentRDDs().keySet()).isEqualTo(kept);
    assertThat(Backends.deviceBytesInUse()).isZero();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain("sparqr-warmup");
  }

  @Test
  void tellsOneLineAndNoneOfItsSolves() {
    try (var log = new CapturedLog()) {
      ran(Map.of("spark.sparqr.warmup", "2"));
      assertThat(log.lines(Level.WARN)).isEmpty();
      assertThat(log.lines(Level.INFO))
          .singleElement()
          .asString()
          .matches(
              "warm-up: \\d+ small solves, (its time is over|hardly anything left to compile); .*");
    }
  }

  /** All problems, once each: they are solved, by whatever this JVM has. */
  @Test
  void itsProblemsHaveSolutions() {
    for (TrialProblem problem : TrialProblem.list(false)) {
      problem.solve();
      problem.solve(context);
      double[] b = problem.b().column(0);
      List<SparseRow> rows = Problems.rows(problem.a(), b);
      LeastSquaresSolution s =
          Pipeline.solve(
              RowSource.local(1, p -> rows.iterator()), problem.options(), ProgressListener.NONE);
      assertThat(Tolerances.backwardError(problem.a(), b, s.x(), s.deadColumns()))
          .as("%d x %d", problem.a().rows(), problem.a().columns())
          .isLessThan(Tolerances.UNITS);
    }
    TrialProblem first = TrialProblem.list(false).get(0);
    assertThat(first.isSmall()).isTrue();
    first.factorize(context);
    // what is no number comes up in whatever reads and solves it
    double[] broken = first.b().column(0).clone();
    broken[broken.length - 1] = Double.NaN;
    var bad =
        new TrialProblem(
            first.a(),
            DenseMatrix.ofColumns(broken.length, new double[][] {broken}),
            first.options());
    for (ThrowingCallable way :
        List.<ThrowingCallable>of(
            bad::solve, () -> bad.solve(context), () -> bad.factorize(context))) {
      assertThatThrownBy(way).isInstanceOf(NonFiniteValueException.class);
    }
    assertThat(context.getPersistentRDDs()).isEmpty();
    assertThat(TrialProblem.large(false)).hasSizeBetween(0, 2);
    // 16 GB of heap and 8 processors
    Runtime r = Runtime.getRuntime();
    boolean later = r.maxMemory() >= 16L << 30 && r.availableProcessors() >= 8;
    assertThat(TrialProblem.later(false)).hasSize(later ? 3 : 0);
    assertThat(TrialProblem.list(true).size()).isGreaterThan(TrialProblem.list(false).size());
  }

  @Test
  void noJobsOfSparkIfTheyAreNotWanted() throws InterruptedException {
    List<String> jobs =
        jobsDuring(
            () -> ran(Map.of("spark.sparqr.warmup", "2", "spark.sparqr.warmup.jobs", "false")));
    assertThat(jobs).containsExactly("the last");
  }

  @Test
  void canBeSwitchedOff() {
    Optional<Warmup> before = Warmup.last();
    Warmup.begin(name -> name.equals("spark.sparqr.warmup") ? "0" : null, true, Optional.empty());
    assertThat(Warmup.last()).isEqualTo(before);
  }

  @Test
  void aWrongSettingIsALineInTheLog() {
    try (var log = new CapturedLog()) {
      Warmup.begin(name -> "fast", true, Optional.of(context));
      assertThat(log.lines(Level.WARN))
          .singleElement()
          .asString()
          .contains("spark.sparqr.warmup = fast");
    }
  }

  @Test
  void itsFailureIsALineInTheLog() {
    for (Throwable planted : List.of(new IllegalStateException("p"), new NoClassDefFoundError())) {
      try (var log = new CapturedLog()) {
        Warmup w = Warmup.begin(LONGEST, () -> List.of(() -> sneaky(planted)));
        assertThat(w.await(LONGEST)).isTrue();
        assertThat(w.outcome().end()).isEqualTo("failed");
        assertThat(log.lines(Level.WARN)).singleElement().asString().contains(planted.toString());
      }
      assertThat(solve()).hasSize(A.columns());
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneaky(Throwable e) throws T {
    throw (T) e;
  }

  @Test
  void aSolveIsNotHeldUpAndEndsIt() {
    double[] alone = solve();
    Warmup w = waiting();
    double[] beside = solve();
    assertThat(w.await(0.001)).isFalse();
    latch.countDown();
    assertThat(w.await(LONGEST)).isTrue();
    assertThat(w.outcome().end()).isEqualTo("a solve began");
    assertThat(w.outcome().solves()).isEqualTo(1);
    assertThat(beside).isEqualTo(alone);
  }

  /** Without Spark no task tells of itself: the driver does. */
  @Test
  void theTasksOfASolveWithoutSparkEndIt() {
    Warmup w = waiting();
    var b = new DenseMatrix(A.rows(), 1, DefaultRightHandSide.of(A));
    RowSource rows = RowSource.local(1, p -> RowSlice.shared(A, b, 0, A.rows()).iterator());
    Pipeline.solve(rows, SolveOptions.defaults(), ProgressListener.NONE);
    latch.countDown();
    assertThat(w.await(LONGEST)).isTrue();
    assertThat(w.outcome().solves()).isEqualTo(1);
  }

  /** Beside the first phases of a solve each problem is solved once, up to the solve's tasks. */
  @Test
  void theFirstRoundGoesOnUntilTheTasksOfASolve() {
    var second = new CountDownLatch(1);
    List<Runnable> steps = List.of(() -> await(latch), () -> await(second), () -> {}, () -> {});
    Warmup w = Warmup.begin(LONGEST, () -> steps);
    Foreground.enter();
    assertThat(Foreground.entered()).isTrue();
    assertThat(Foreground.working()).isFalse();
    latch.countDown();
    assertThat(w.await(0.1)).isFalse();
    Foreground.work();
    second.countDown();
    assertThat(w.await(LONGEST)).isTrue();
    assertThat(w.outcome().end()).isEqualTo("a solve began");
    assertThat(w.outcome().solves()).isEqualTo(2);
    Warmup once = Warmup.begin(LONGEST, () -> List.of(Foreground::enter, () -> {}));
    assertThat(once.await(LONGEST)).isTrue();
    assertThat(once.outcome().solves()).isEqualTo(2);
  }

  @Test
  void roundsAfterTheFirstAreOfTheLaterProblems() {
    var run = new ConcurrentLinkedQueue<String>();
    Warmup w =
        Warmup.begin(
            LONGEST,
            new Warmup.Work() {
              @Override
              public List<Runnable> begin() {
                return List.of(() -> run.add("small"), () -> run.add("larger"));
              }

              @Override
              public List<Runnable> later(List<Runnable> first) {
                return List.of(() -> run.add("largest"), Foreground::enter, () -> run.add("none"));
              }
            });
    assertThat(w.await(LONGEST)).isTrue();
    assertThat(run).startsWith("small", "larger").doesNotContain("none");
    assertThat(run.stream().skip(2)).containsOnly("largest").hasSizeLessThan(2);
  }

  @Test
  void itsOwnSolvesDoNotEndIt() {
    Warmup w =
        Warmup.begin(
            LONGEST, () -> List.of(TrialProblem.list(false).get(0)::solve, () -> await(latch)));
    latch.countDown();
    assertThat(w.await(LONGEST)).isTrue();
    assertThat(w.outcome().end()).isNotEqualTo("a solve began");
  }

  @Test
  void oneAtATimeAndNoLongerThanTheApplication() {
    Warmup w = waiting();
    assertThat(Warmup.begin(LONGEST, List::of)).isSameAs(w);
    AtStart.tell(AtStart::end);
    latch.countDown();
    assertThat(w.await(LONGEST)).isTrue();
    assertThat(w.outcome().end()).isEqualTo("the application ends");
    assertThat(Warmup.begin(LONGEST, List::of)).isNotSameAs(w);
  }

  @Test
  void noLongerThanItsTime() {
    Warmup w = Warmup.begin(1e-9, () -> List.of(() -> {}));
    assertThat(w.await(LONGEST)).isTrue();
    assertThat(w.outcome().end()).isEqualTo("its time is over");
  }

  @Test
  void theDeviceOfALocalMasterStaysOpenUntilTheApplicationEnds() {
    AtStart.tell(AtStart::end);
    double opened = leastFlops();
    ran(Map.of("spark.sparqr.warmup", "1e-9"));
    double open = leastFlops();
    assertThat(open).isLessThan(opened);
    Warmup.begin(Map.of("spark.sparqr.warmup", "0")::get, true, Optional.of(context));
    assertThat(leastFlops()).as("nothing opens it").isEqualTo(opened);
    ran(Map.of("spark.sparqr.warmup", "1e-9"));
    assertThat(leastFlops()).isEqualTo(open);
    AtStart.tell(AtStart::end);
    assertThat(leastFlops()).isEqualTo(opened);
    Warmup.begin(Map.of("spark.sparqr.warmup", "1e-9")::get, true, Optional.empty());
    noneRuns();
    assertThat(leastFlops()).as("on an executor").isEqualTo(opened);
  }

  private static double leastFlops() {
    return new CudaBackendProvider().minimumFlops();
  }

  private void ran(Map<String, String> settings) {
    Warmup.begin(settings::get, true, Optional.of(context));
    assertThat(Warmup.last().orElseThrow().await(LONGEST)).isTrue();
  }

  /** Descriptions of the jobs seen by Spark's listeners, and last of one run here. */
  private List<String> jobsDuring(Runnable work) throws InterruptedException {
    List<String> seen = new CopyOnWriteArrayList<>();
    var listener =
        new SparkListener() {
          @Override
          public void onJobStart(SparkListenerJobStart job) {
            seen.add(job.properties().getProperty("spark.job.description", "none"));
          }
        };
    context.sc().addSparkListener(listener);
    try {
      work.run();
      context.setJobDescription("the last");
      context.parallelize(List.of(1), 1).count();
      while (!seen.contains("the last")) {
        Thread.sleep(10);
      }
    } finally {
      context.setJobDescription(null);
      context.sc().removeSparkListener(listener);
    }
    return seen;
  }
}
