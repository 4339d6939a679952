/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.cluster.ExecutorWait;
import io.sparqr.spark.condition.ColumnSizes;
import io.sparqr.spark.condition.Condition;
import io.sparqr.spark.condition.RankRequest;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.factor.FactorTotals;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.plan.PlanStream;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.CombineChecks;
import io.sparqr.spark.rows.DriverShare;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.NumberStream;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The part of a saved factorization other than R, as a file:
 *
 * <pre>
 * 8 bytes  "SPARQR-F"
 * int      version
 * frames   numbers, singleton rows, files of R (STORED); totals (TASK); plan (PLAN)
 * </pre>
 *
 * with its length before each frame. Size: the plan, and 12 bytes per entry of the singleton rows.
 *
 * @param id identity shared with the files of R
 * @param input description of the rows
 * @param options those that concern the problem and later solves
 * @param plan the plan, with the problem's ridge
 * @param singletons rows of R held by the driver
 * @param totals of all tasks as one, with the residual norms of the right-hand sides
 * @param course how the factorization went
 * @param rank how far the rank was looked at
 */
record StoredHead(
    String id,
    FactorInput input,
    SolveOptions options,
    SolvePlan plan,
    SingletonRows singletons,
    TaskReport totals,
    Course course,
    FactorRank rank) {

  /**
   * The part of {@link FactorRun.Course} that is saved.
   *
   * @param seconds wall times of the factorization
   * @param waited seconds spent waiting for executors
   * @param warnings of the factorization
   */
  record Course(
      SolveReport.Seconds seconds,
      ExecutorWait.Outcome waited,
      List<String> warnings,
      double boundSeconds) {}

  private static final byte[] MAGIC = "SPARQR-F".getBytes(StandardCharsets.US_ASCII);

  /** The head of a factorization. */
  static StoredHead of(
      FactorRun made, SolveOptions options, SolvePlan plan, SingletonRows singletons) {
    FactorTotals t = made.totals();
    FactorSummary summary =
        t.summary().withDeparture(made.combined().departure()).withRedone(made.combined().redone());
    var totals =
        new TaskReport(
            0,
            summary,
            t.residualSquares(),
            t.entries(),
            t.dead(),
            new TaskReport.Bytes(t.bytesIn(), 0, 0, t.factorBytes()),
            t.backendReason());
    var warnings = new ArrayList<>(made.course().warnings());
    warnings.addAll(FactorReport.ofRows(made));
    return new StoredHead(
        UUID.randomUUID().toString(),
        made.input(),
        options,
        plan,
        singletons,
        totals,
        new Course(
            made.course().seconds(),
            made.course().waited(),
            warnings,
            made.course().boundSeconds()),
        made.rank());
  }

  /** The state of the factorization, restored. */
  FactorRun made(PlanHandle handle, FactorLevels levels) {
    SolveReport.Seconds seconds = course.seconds;
    FactorTotals all =
        FactorTotals.of(List.of(totals), new double[totals.residualSquares().length]);
    return new FactorRun(
        input,
        handle,
        new FactorRun.Factor(
            levels,
            new DriverShare(singletons, all.residualSquares()),
            new CombineChecks(),
            all,
            new LevelSolve(handle, levels)),
        FirstSolution.none(),
        rank,
        new FactorRun.Course(
            seconds.withSolve(0, seconds.total() - seconds.solve()),
            course.waited,
            JobScope.newGroup(),
            course.warnings,
            List.of(),
            course.boundSeconds,
            Optional.empty()));
  }

  /** Writes the head with the list of the files of R, by level. */
  void write(DataOutput out, List<List<StoredPart>> parts) throws IOException {
    out.write(MAGIC);
    out.writeInt(StoredPart.VERSION);
    var numbers = new NumberStream.Writer(Frame.Kind.STORED, frame -> put(frame, out));
    numbers.putText(id);
    numbers.putLong(input.rows()).putLong(input.nonzeros());
    numbers.putDouble(input.frobenius()).putLong(input.shuffleBytes());
    put(options, numbers);
    numbers.putInts(singletons.rowStart()).putInts(singletons.position());
    numbers.putDoubles(singletons.value()).putDoubles(singletons.rhs());
    numbers.putInt(singletons.rhsCount());
    put(course, numbers);
    put(rank, numbers);
    numbers.putLong(parts.size());
    for (List<StoredPart> level : parts) {
      numbers.putLong(level.size());
      for (StoredPart p : level) {
        numbers.putText(p.name()).putInt(p.frames()).putLong(p.bytes()).putLong(p.checksum());
      }
    }
    numbers.end();
    put(totals.encode(), out);
    new PlanStream(plan).write(out);
  }

  private static void put(byte[] frame, DataOutput out) throws IOException {
    out.writeInt(frame.length);
    out.write(frame);
  }

  /**
   * The inverse of {@link #write}.
   *
   * @param parts receives the files of R, by level
   * @throws WireFormatException if it is not a head, damaged, or of another version
   * @throws java.io.EOFException if it is truncated
   */
  static StoredHead read(DataInput in, List<List<StoredPart>> parts) throws IOException {
    byte[] magic = new byte[MAGIC.length];
    in.readFully(magic);
    if (!java.util.Arrays.equals(magic, MAGIC)) {
      throw new WireFormatException("its head is not that of a factorization", "magic");
    }
    int version = in.readInt();
    if (version != StoredPart.VERSION) {
      throw new WireFormatException(
          "saved in version " + version + " of the format, this is version " + StoredPart.VERSION,
          "version");
    }
    var numbers = new NumberStream.Reader(Frame.Kind.STORED, () -> frame(in));
    String id = numbers.getText();
    var input =
        new FactorInput(
            numbers.getLong(), numbers.getLong(), numbers.getDouble(), numbers.getLong());
    SolveOptions options = options(numbers);
    var singletons =
        new SingletonRows(
            numbers.getInts(),
            numbers.getInts(),
            numbers.getDoubles(),
            numbers.getDoubles(),
            numbers.getInt());
    Course course = course(numbers);
    FactorRank rank = rank(numbers);
    for (int levels = numbers.getLength(); levels > 0; levels--) {
      List<StoredPart> level = new ArrayList<>();
      for (int k = numbers.getLength(); k > 0; k--) {
        level.add(
            new StoredPart(
                numbers.getText(), numbers.getInt(), numbers.getLong(), numbers.getLong()));
      }
      parts.add(level);
    }
    numbers.end();
    TaskReport totals = TaskReport.decode(frame(in));
    var plan = new PlanStream();
    plan.readFields(in);
    SolvePlan p = plan.plan();
    require(p, singletons, totals, parts);
    options =
        options.with(
            options
                .problem()
                .withRidge(p.numbers().ridge())
                .withEquilibrate(p.numbers().equilibrated()));
    return new StoredHead(id, input, options, p, singletons, totals, course, rank);
  }

  private static void require(
      SolvePlan plan, SingletonRows r, TaskReport totals, List<List<StoredPart>> parts) {
    int width = plan.numbers().rhsCount();
    int n1 = plan.analysis().singletons();
    boolean right =
        r.rhsCount() == width
            && r.rowStart().length == n1 + 1
            && r.rhs().length == (long) n1 * width
            && r.value().length == r.position().length
            && r.rowStart()[n1] == r.value().length
            && totals.residualSquares().length == width
            && parts.size() == plan.partition().levels();
    for (int l = 0; right && l < parts.size(); l++) {
      right = parts.get(l).size() == plan.partition().level(l).size();
    }
    if (!right) {
      throw new WireFormatException("its head and its plan do not fit together", "head");
    }
  }

  private static byte[] frame(DataInput in) throws IOException {
    int length = in.readInt();
    if (length < Frame.HEADER || length > Frame.HEADER + (1 << 30)) {
      throw new WireFormatException("its head is damaged: " + length + " bytes", "length");
    }
    byte[] frame = new byte[length];
    in.readFully(frame);
    return frame;
  }

  private static void put(SolveOptions o, NumberStream.Writer out) throws IOException {
    out.putInt(o.problem().rankPolicy().ordinal());
    out.putBoolean(o.problem().rankTolerance().isPresent());
    out.putDouble(o.problem().rankTolerance().orElse(0));
    out.putBoolean(o.problem().dropping().by());
    out.putInts(o.problem().dropping().keep()).putInts(o.problem().dropping().drop());
    out.putInt(o.problem().dropping().keepFrom().orElse(-1));
    out.putInt(o.solution().refinement()).putBoolean(o.solution().check());
    out.putDouble(o.solution().minRcond());
  }

  private static SolveOptions options(NumberStream.Reader in) throws IOException {
    SolveOptions o = SolveOptions.defaults();
    SolveOptions.Problem problem = o.problem().withRankPolicy(in.getOneOf(RankPolicy.values()));
    boolean given = in.getBoolean();
    double tolerance = in.getDouble();
    problem = given ? problem.withRankTolerance(tolerance) : problem;
    boolean by = in.getBoolean();
    int[] keep = in.getInts();
    int[] drop = in.getInts();
    int from = in.getInt();
    OptionalInt keepFrom = from < 0 ? OptionalInt.empty() : OptionalInt.of(from);
    problem = problem.withDropping(new SolveOptions.Dropping(by, keep, drop, keepFrom));
    SolveOptions.Solution solution =
        o.solution()
            .withRefinement(in.getInt())
            .withCheck(in.getBoolean())
            .withMinRcond(in.getDouble());
    return o.with(problem).with(solution);
  }

  private static void put(FactorRank rank, NumberStream.Writer out) throws IOException {
    RankRequest request = rank.request();
    out.putInts(request.last()).putBoolean(request.tolerance().isPresent());
    out.putDouble(request.tolerance().orElse(0)).putDouble(request.leftOut());
    out.putDouble(request.shrink()).putInt(request.round());
    out.putDouble(rank.condition().estimate()).putInts(rank.condition().nearlyDependent());
    out.putBoolean(rank.sizes().ofCaller().isPresent());
    out.putDoubles(rank.sizes().ofCaller().orElse(new double[0]));
  }

  private static FactorRank rank(NumberStream.Reader in) throws IOException {
    int[] last = in.getInts();
    boolean given = in.getBoolean();
    double tolerance = in.getDouble();
    var request =
        new RankRequest(
            last,
            given ? OptionalDouble.of(tolerance) : OptionalDouble.empty(),
            in.getDouble(),
            in.getDouble(),
            in.getInt());
    var condition = new Condition(in.getDouble(), in.getInts());
    boolean sizes = in.getBoolean();
    double[] norms = in.getDoubles();
    return new FactorRank(
        request, condition, sizes ? new ColumnSizes(Optional.of(norms)) : ColumnSizes.UNIT);
  }

  private static void put(Course course, NumberStream.Writer out) throws IOException {
    put(course.seconds, out);
    ExecutorWait.Outcome waited = course.waited;
    out.putInt(waited.executors()).putInt(waited.wanted()).putDouble(waited.seconds());
    out.putLong(course.warnings.size());
    for (String w : course.warnings) {
      out.putText(w);
    }
    out.putDouble(course.boundSeconds);
  }

  private static Course course(NumberStream.Reader in) throws IOException {
    SolveReport.Seconds seconds = seconds(in);
    var waited = new ExecutorWait.Outcome(in.getInt(), in.getInt(), in.getDouble());
    List<String> warnings = new ArrayList<>();
    for (int k = in.getLength(); k > 0; k--) {
      warnings.add(in.getText());
    }
    return new Course(seconds, waited, List.copyOf(warnings), in.getDouble());
  }

  private static void put(SolveReport.Seconds s, NumberStream.Writer out) throws IOException {
    out.putDouble(s.read()).putDouble(s.pattern()).putDouble(s.order()).putDouble(s.analyze());
    out.putDouble(s.plan()).putDouble(s.assemble()).putDouble(s.factorize());
    out.putDouble(s.solve()).putDouble(s.total());
  }

  private static SolveReport.Seconds seconds(NumberStream.Reader in) throws IOException {
    return new SolveReport.Seconds(
        in.getDouble(),
        in.getDouble(),
        in.getDouble(),
        in.getDouble(),
        in.getDouble(),
        in.getDouble(),
        in.getDouble(),
        in.getDouble(),
        in.getDouble());
  }
}
