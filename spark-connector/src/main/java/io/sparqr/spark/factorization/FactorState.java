/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.error.IllConditionedException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.condition.Condition;
import io.sparqr.spark.dependence.BasicColumns;
import io.sparqr.spark.dependence.FactoredMatrix;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.factor.CollectedFactor;
import io.sparqr.spark.factor.FactorRows;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.InverseBlock;
import io.sparqr.spark.model.QTransposed;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.observe.Known;
import io.sparqr.spark.observe.ProgressTracker;
import io.sparqr.spark.observe.SolveLog;
import io.sparqr.spark.observe.Stopwatch;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolveOptions.Dropping;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.QrCriteria;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.ResidualPass;
import io.sparqr.spark.solve.RowCopies;
import io.sparqr.spark.solve.SemiNormalEquations;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;

/** A finished factorization: everything {@code QRFactorization} offers, with R on the executors. */
public final class FactorState implements AutoCloseable {

  /** The null space may take this fraction of the driver's heap, as 1 / share. */
  private static final int NULL_SPACE_SHARE = 8;

  private final Engine engine;
  private final FactoredRows rows;
  private final SolveOptions options;
  private final ProgressListener listener;
  private final Held held;
  private final FactorRun made;
  private final SolvePlan plan;

  private final SingletonRows singletons;
  private final LevelSolve solve;
  private final FactorSolves solves;
  private final SymbolicAnalysis analysis;
  private final int n;
  private final int[] dead;
  private BasicColumns basic;
  private final FactorReport report;
  private SolveReport.Seconds seconds;
  private SolveReport.Residual residual = SolveReport.Residual.none();
  private List<String> notes = List.of();
  private List<String> warnings = List.of();
  private @Nullable LeastSquaresSolution solution;
  private final FactorStatistics statistics;
  private @Nullable FactorQ q;

  /** Takes the results of the pipeline, and ownership of its data on the cluster. */
  public FactorState(
      FactoredRows rows,
      SolveOptions options,
      ProgressListener listener,
      Held held,
      FactorRun made) {
    this.engine = rows.engine();
    this.rows = rows;
    this.options = options;
    this.listener = listener;
    this.held = held;
    this.made = made;
    SolvePlan ofRows = made.plan().value();
    this.plan = rows.ridge().any() ? ofRows.withRidge(rows.ridge()) : ofRows;
    this.singletons = made.driverShare().singletons();
    this.analysis = plan.analysis();
    this.n = analysis.columns();
    this.solve = made.solve();
    this.solves = new FactorSolves(rows, options, made, plan, solve, held);
    this.dead =
        Arrays.stream(made.totals().dead())
            .map(analysis.permutation()::original)
            .sorted()
            .toArray();
    this.seconds = made.course().seconds();
    if (options.problem().rankPolicy() == RankPolicy.FAIL && dead.length > 0) {
      throw new RankDeficientException(
          "the matrix has rank %,d of %,d columns; column %d depends on others"
              .formatted(rank(), n, dead[0]),
          rank(),
          n);
    }
    requireCondition(options.solution().minRcond());
    this.statistics =
        new FactorStatistics(engine, made, new NormalInverse(plan, singletons, solve, dead), held);
    Dropping how = options.problem().dropping();
    BasicColumns.check(how, n);
    this.basic = dead.length > 0 && how.by() ? chosen(how) : BasicColumns.ofR(dead);
    this.report = new FactorReport(options, made, basic);
  }

  private void requireCondition(double least) {
    Condition condition = made.rank().condition();
    if (least > 0 && !(1 / condition.estimate() >= least)) {
      throw new IllConditionedException(
          "the condition estimate of A, its columns scaled to norm 1, is %.1e, beyond 1 / %.1e%s"
              .formatted(condition.estimate(), least, condition.named()),
          condition.estimate(),
          condition.nearlyDependent());
    }
  }

  private BasicColumns chosen(Dropping how) {
    long most = Runtime.getRuntime().maxMemory() / NULL_SPACE_SHARE;
    try (var scope = new JobScope(engine, made.course().group())) {
      var matrix =
          new FactoredMatrix(plan, solve, singletons, dead, tails(), solves::backSubstituted);
      return BasicColumns.choose(matrix, how, most, scope);
    }
  }

  /** Each dependent column as a combination of others. */
  public List<Dependency> dependencies() {
    if (!basic.known()) {
      BasicColumns found = chosen(options.problem().dropping());
      if (found.warning().isPresent()) {
        long most = Runtime.getRuntime().maxMemory() / NULL_SPACE_SHARE;
        throw new InsufficientMemoryException(
            "the null space of %,d dependent columns takes more than %,d MB of the driver"
                .formatted(dead.length, most >> 20),
            most,
            most);
      }
      basic = found;
    }
    return basic.dependencies(plan);
  }

  /** The dependencies if already computed, otherwise none. */
  public List<Dependency> knownDependencies() {
    return basic.dependencies(plan);
  }

  /**
   * The factorized rows.
   *
   * @throws IllegalStateException if they are not available: the factorization was loaded, or rows
   *     were appended to an earlier one
   */
  public RowSource source() {
    if (!rows.whole()) {
      throw new IllegalStateException(
          "the rows that were factorized are not there (the factorization was loaded, or rows were"
              + " appended to it): solveRelabeled takes all rows with their right-hand sides");
    }
    return rows.source().orElseThrow();
  }

  /** Numerical rank. */
  public int rank() {
    return n - dead.length;
  }

  /** Original indices, ascending; a copy. */
  public int[] deadColumns() {
    return basic.dropped();
  }

  /** The choice of the dependent columns. */
  public BasicColumns basic() {
    return basic;
  }

  /** The analysis in use. */
  public SymbolicAnalysis analysis() {
    return analysis;
  }

  /** The plan of the factorization. */
  public SolvePlan plan() {
    return plan;
  }

  /** The fingerprints of the rows. */
  public Readings readings() {
    return plan.readings();
  }

  /**
   * Runs an action in the job group of the factorization, or in the caller's; an error leaves the
   * factorization unchanged.
   */
  private <T> T scoped(Function<JobScope, T> action) {
    if (held.closed()) {
      throw new IllegalStateException("this factorization is closed");
    }
    var watch = new Stopwatch();
    try (var scope = new JobScope(engine, made.course().group())) {
      return action.apply(scope);
    } catch (Throwable e) {
      double spent = watch.total();
      Known.tell(
          listener,
          new FailureReport(
              "solve",
              Known.of(report(), residual.residualNorm().length > 0),
              seconds.withSolve(seconds.solve() + spent, seconds.total() + spent),
              e));
      throw e;
    }
  }

  /** As above, as a separate phase after the original solve, with progress and a profile. */
  private <T> T told(String phase, String what, Function<JobScope, T> action) {
    return scoped(
        scope -> {
          try (var progress =
              new ProgressTracker(
                  engine, listener, scope.group(), made.course().profiler(), seconds.total())) {
            progress.phase(phase, what);
            T found = action.apply(scope);
            progress.done(what);
            return found;
          }
        });
  }

  /** The solution for the original right-hand sides; computed once. */
  public LeastSquaresSolution solve() {
    if (solution == null || held.closed()) {
      solution = scoped(this::solveStored);
    }
    return solution;
  }

  private LeastSquaresSolution solveStored(JobScope scope) {
    var watch = new Stopwatch();
    try (var progress =
        new ProgressTracker(
            engine, listener, scope.group(), made.course().profiler(), seconds.total())) {
      progress.phase("solve", "back substitution");
      FactorSolves.Solved s = solves.stored(basic, scope, progress);
      residual = s.residual();
      notes = s.notes();
      warnings = s.warnings();
      seconds = seconds.withSolve(s.seconds(), seconds.total() + watch.total());
      double[] norm = residual.residualNorm();
      SolveLog.done(rank(), n, norm, seconds.total());
      LeastSquaresSolution found = solution(s);
      progress.done(String.format(java.util.Locale.ROOT, "||b - Ax|| = %.6e", norm[0]));
      return found;
    }
  }

  private LeastSquaresSolution solution(FactorSolves.Solved s) {
    SolveReport of = report.of(s.residual(), seconds, s.notes(), s.warnings());
    return new LeastSquaresSolution(
            s.x(), s.residual().residualNorm(), rank(), deadColumns(), profiled(of))
        .requireFinite();
  }

  /** Solves for other labels of the factorized rows, in the same order. */
  public LeastSquaresSolution solveAligned(RowSource rows) {
    if (options.factorization().keepQ()) {
      return told(
          "solve", "by the kept Q", scope -> solution(solves.reflected(rows, basic, scope)));
    }
    return solveSemiNormal(solves.aligned(rows), "Q was not kept");
  }

  /** As above, in any order. */
  public LeastSquaresSolution solveFurther(RowSource rows) {
    String why =
        options.factorization().keepQ()
            ? "rows in any order do not tell their reflectors"
            : "Q was not kept";
    try (var ofThese = RowCopies.of(rows.engine(), plan)) {
      return solveSemiNormal(ResidualPass.further(rows, plan, ofThese), why);
    }
  }

  private LeastSquaresSolution solveSemiNormal(ResidualPass pass, String why) {
    return told(
        "solve", FactorSolves.HOW, scope -> solution(solves.semiNormal(pass, why, basic, scope)));
  }

  /** y of least norm with A'y = b, one for each right-hand side; A must have full column rank. */
  public SemiNormalEquations.Solution leastNorm(
      double[][] b, SemiNormalEquations.Products products) {
    return scoped(scope -> solves.equations().leastNorm(b, products, scope));
  }

  /** A'y for the labels y of a pass over rows of A in any order, one for each right-hand side. */
  public double[][] timesTransposed(RowSource rows) {
    return solves.timesTransposed(rows);
  }

  /** The backward error of solutions for the right-hand sides of the rows. */
  public SolveReport.Check check(double[][] x) {
    return scoped(scope -> solves.check(x, scope));
  }

  /**
   * ||b - A x|| of other solutions for the right-hand sides of the rows.
   *
   * @param norm computed from the tails
   * @param tail what they were computed from
   */
  public SolveReport.Residual residual(double[][] x, double[] norm, double[] tail) {
    return scoped(scope -> solves.residual(x, norm, tail, scope));
  }

  /** y with R'y = g: {@link SemiNormalEquations#forward(double[][], JobScope)}. */
  public double[] forward(double[][] g) {
    return scoped(scope -> solves.equations().forward(g, scope));
  }

  /** x with R x = c: {@link SemiNormalEquations#solveUpper}. */
  public double[][] back(double[] c, int width) {
    return scoped(scope -> solves.equations().solveUpper(c, width, scope));
  }

  /** ||b - A x|| of the unconstrained solution, the ridge's rows included. */
  public double tail(int k) {
    return solves.tail(k);
  }

  private double[] tails() {
    double[] tail = new double[plan.numbers().rhsCount()];
    Arrays.setAll(tail, this::tail);
    return tail;
  }

  /** {@link SolvePlan#withoutRidge}. */
  public double withoutRidge(double norm, double[] x) {
    return plan.withoutRidge(norm, x);
  }

  /** The number of rows, m. */
  public long rows() {
    return made.input().rows();
  }

  /** Another solution with this factorization's report. */
  public LeastSquaresSolution corrected(double[][] x, SolveReport.Residual of, String how) {
    return new LeastSquaresSolution(
            x,
            of.residualNorm(),
            rank(),
            deadColumns(),
            report.of(of, seconds, List.of(how), List.of()))
        .requireFinite();
  }

  /** Q'y for vectors of the weighted rows. */
  public QTransposed applyQTransposed(JavaRDD<double[]> vectors) {
    FactorQ of = keptQ();
    return told("q", "Q' times vectors", scope -> of.transposed(vectors, scope));
  }

  /** Thin Q times vectors, as the rows lie. */
  public JavaRDD<double[]> applyQ(double[][] vectors) {
    FactorQ of = keptQ();
    return told("q", "Q times vectors", scope -> of.times(vectors, scope));
  }

  /** Columns of thin Q, as the rows lie. */
  public JavaRDD<double[]> q(int[] columns) {
    FactorQ of = keptQ();
    return told("q", "columns of Q", scope -> of.columns(columns, scope));
  }

  /** How good the factorization is. */
  public QrCriteria criteria(int probes) {
    if (probes < 1) {
      throw new IllegalArgumentException("criteria by " + probes + " probes: at least 1");
    }
    var criteria = new FactorCriteria(made, source(), keptQ());
    return told("q", "the three criteria", scope -> criteria.measure(probes, scope));
  }

  /**
   * Products with Q.
   *
   * @throws IllegalStateException if Q or the rows are not there, with the reason
   */
  private FactorQ keptQ() {
    if (rows.source().isEmpty()) {
      throw new IllegalStateException(
          "Q is not there: the factorization was loaded, and save leaves Q out");
    }
    if (!rows.whole()) {
      throw new IllegalStateException(
          "Q is not that of all rows: rows were appended to an earlier factorization, of which R"
              + " alone was used");
    }
    if (!options.factorization().keepQ()) {
      throw new IllegalStateException("Q was not kept: factorize with keepQ(true)");
    }
    if (q == null) {
      q = new FactorQ(made, source(), held);
    }
    return q;
  }

  /** Standard errors of x for right-hand side k. */
  public double[] standardErrors(int k) {
    if (k < 0 || k >= plan.numbers().rhsCount()) {
      throw new IllegalArgumentException("right-hand side " + k);
    }
    double norm = solve().residualNorms()[k];
    double[] error = unscaledErrors();
    long freedom = made.input().rows() - rank();
    double sigma = freedom > 0 ? norm / Math.sqrt(freedom) : Double.NaN;
    for (int j = 0; j < n; j++) {
      error[j] *= sigma;
    }
    return error;
  }

  /** Standard errors for sigma = 1; computed once. */
  public double[] unscaledErrors() {
    return told("errors", "standard errors", s -> statistics.unscaledErrors(basic, s));
  }

  /** Leverages of the factorized rows; computed once, together with the errors. */
  public JavaRDD<double[]> leverages() {
    RowSource source = source();
    return told("errors", "leverages", s -> statistics.leverages(source, basic, s));
  }

  /** (A'A)^-1 u for each u. */
  public double[][] inverseTimes(List<SparseRow> vectors) {
    return scoped(scope -> statistics.inverseTimes(vectors, basic, scope));
  }

  /** (A'A)^-1 u at some columns, for each u. */
  public double[][] inverseTimes(List<SparseRow> vectors, int[] columns) {
    return scoped(scope -> statistics.inverseTimes(vectors, columns, basic, scope));
  }

  /** (A'A)^-1 on some columns; leverages are made in the same descent. */
  public InverseBlock inverseBlock(int[] columns) {
    var kept = new Held();
    held.onClose(kept::close);
    Optional<RowSource> whole = rows.whole() ? rows.source() : Optional.empty();
    FactorInverseBlock made =
        told("errors", "inverse", s -> statistics.block(columns, whole, kept, basic, s));
    return new InverseBlock() {
      @Override
      public int columns() {
        return made.columns();
      }

      @Override
      public double[][] strip(int from, int to) {
        if (kept.closed()) {
          throw new IllegalStateException("this block of the inverse is closed");
        }
        return scoped(scope -> made.strip(from, to, scope));
      }

      @Override
      public void close() {
        kept.close();
      }
    };
  }

  /** The columns in the order of R. */
  public Permutation permutation() {
    return made.plan().value().analysis().permutation();
  }

  /** R^-T u for each u. */
  public HalfSolve halfSolve(List<SparseRow> vectors) {
    return told("errors", "standard errors", s -> statistics.halfSolve(vectors, basic, s));
  }

  /** R as rows in the caller's columns and units, Q'b as their labels; valid until close(). */
  public RowSource factorRows() {
    return FactorRows.of(engine.context(), made.plan(), singletons, made.levels());
  }

  /**
   * Saves the factorization without Q, even if Q is kept.
   *
   * @throws IOException if that fails, or the folder has content that must not be replaced
   */
  public void save(String folder, boolean overwrite) throws IOException {
    if (held.closed()) {
      throw new IllegalStateException("this factorization is closed");
    }
    new FactorStore(engine.context(), folder).save(head(), made.levels(), overwrite);
  }

  private StoredHead head() {
    return StoredHead.of(made, options, plan, singletons);
  }

  /**
   * Loads a saved factorization.
   *
   * @throws IOException if that fails, or there is none
   */
  public static FactorState load(JavaSparkContext context, String folder) throws IOException {
    var held = new Held();
    boolean loaded = false;
    try {
      StorageLevel storage = SolveOptions.defaults().factorization().storageLevel();
      FactorStore.Loaded found = new FactorStore(context, folder).load(held, storage);
      StoredHead head = found.head();
      FactorRun made = head.made(found.plan(), found.levels());
      var state =
          new FactorState(
              FactoredRows.notThere(context), head.options(), ProgressListener.NONE, held, made);
      loaded = true;
      return state;
    } finally {
      if (!loaded) {
        held.close();
      }
    }
  }

  /** R and Q'b as rows, to which others can be added. */
  public StartingFactor startingFactor() {
    if (held.closed()) {
      throw new IllegalStateException("this factorization is closed");
    }
    var before =
        new Earlier(0, made.input().rows(), made.input().nonzeros(), plan.numbers().ridge());
    return new StartingFactor(factorRows(), options, before, n, tails(), listener);
  }

  /** R on the driver, if it fits in half of the heap. */
  public RFactor collectR() {
    long first = singletons.count() == 0 ? 0 : singletons.rowStart()[singletons.count()];
    CollectedFactor.requireRoom(
        made.totals().entries() + first, rank(), Runtime.getRuntime().maxMemory());
    return scoped(
        scope -> CollectedFactor.collect(engine.context(), plan, singletons, made.levels()));
  }

  /** The current report: after {@link #solve()} with its residual norms and times. */
  public SolveReport report() {
    return profiled(report.of(residual, seconds, notes, warnings));
  }

  private SolveReport profiled(SolveReport of) {
    return made.course().profiler().map(p -> of.withProfile(p.profile())).orElse(of);
  }

  @Override
  public void close() {
    held.close();
  }
}
