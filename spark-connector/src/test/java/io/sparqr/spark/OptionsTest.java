/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.FrontMethod;
import io.sparqr.error.RankDeficientException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.RowColumns;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.Words;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every option has its effect, or is refused, or the report says that it has none. */
@Tag("once")
class OptionsTest {

  private static final long SEED = 20261201L;
  private static final CsrMatrix A = Problems.random(60, 20, 4, SEED);
  private static final double[] B = Problems.rhs(60, SEED + 1);

  private static JavaRDD<double[]> labels(double[] b, int partitions) {
    return LocalSpark.context()
        .parallelize(Arrays.stream(b).mapToObj(v -> new double[] {v}).toList(), partitions);
  }

  /** The effect of each method of the builder on the options. */
  private static Map<String, UnaryOperator<GpuSparseQR.Builder>> settings() {
    SymbolicAnalysis known = SymbolicAnalyzer.analyze(A.pattern(), SymbolicOptions.defaults());
    var all = new LinkedHashMap<String, UnaryOperator<GpuSparseQR.Builder>>();
    all.put("ordering", b -> b.ordering(OrderingMethod.AMD));
    all.put("permutation", b -> b.permutation(Permutation.identity(20)));
    all.put("amalgamation", b -> b.amalgamation(Amalgamation.none()));
    all.put("singletons", b -> b.singletons(false));
    all.put("backend", b -> b.backend(BackendChoice.CPU));
    all.put("method", b -> b.method(FrontMethod.HOUSEHOLDER));
    all.put("ridge", b -> b.ridge(new double[] {0.5, 0}));
    all.put("rankTolerance", b -> b.rankTolerance(1e-3));
    all.put("equilibrate", b -> b.equilibrate(false));
    all.put("columns", b -> b.columns(20));
    all.put("executors", b -> b.executors(3));
    all.put("minimumExecutors", b -> b.minimumExecutors(2));
    all.put("executorWait", b -> b.executorWait(0));
    all.put("partitions", b -> b.partitions(5));
    all.put("partitionOptions", b -> b.partitionOptions(new PartitionOptions(1, 2, 1, 0)));
    all.put("storageLevel", b -> b.storageLevel(StorageLevel.DISK_ONLY()));
    all.put("rankPolicy", b -> b.rankPolicy(RankPolicy.FAIL));
    all.put("dropLater", b -> b.dropLater(true));
    all.put("keep", b -> b.keep(3, 1));
    all.put("drop", b -> b.drop(2));
    all.put("keepFrom", b -> b.keepFrom(1));
    all.put("check", b -> b.check(true));
    all.put("minRcond", b -> b.minRcond(1e-7));
    all.put("refinement", b -> b.refinement(2));
    all.put("minimumNorm", b -> b.minimumNorm(true));
    all.put("deviceMemoryBytes", b -> b.deviceMemoryBytes(1L << 30));
    all.put("analysis", b -> b.analysis(known));
    all.put("keepQ", b -> b.keepQ(true));
    all.put("profile", b -> b.profile(true));
    return all;
  }

  @Test
  void everyMethodOfTheBuilderSetsOneOptionOfWhatIsBuiltAfterwardsOnly() {
    Map<String, UnaryOperator<GpuSparseQR.Builder>> settings = settings();
    List<String> methods =
        Arrays.stream(GpuSparseQR.Builder.class.getMethods())
            .filter(m -> m.getReturnType() == GpuSparseQR.Builder.class)
            .map(Method::getName)
            .filter(name -> !name.equals("listener") && !name.equals("option"))
            .distinct()
            .toList();
    assertThat(methods).containsExactlyInAnyOrderElementsOf(settings.keySet());
    assertThat(methods)
        .as("declared")
        .containsExactlyInAnyOrderElementsOf(
            SolveOption.all().stream()
                .flatMap(o -> o.calls().stream())
                .map(call -> call.substring(0, call.indexOf('(')))
                .toList());
    SolveOptions defaults = SolveOptions.defaults();
    var changed = new ArrayList<String>();
    settings.forEach(
        (name, set) -> {
          GpuSparseQR.Builder builder = GpuSparseQR.builder();
          SparseQRSolver before = builder.build();
          assertThat(set.apply(builder)).as(name).isSameAs(builder);
          List<String> differing = differing(defaults, builder.build().options());
          assertThat(differing).as(name).hasSize(1);
          changed.addAll(differing);
          assertThat(differing(defaults, before.options())).as("built before " + name).isEmpty();
        });
    assertThat(changed).containsAll(leaves(defaults).keySet());
  }

  /** Names of the components that differ, each with its phase. */
  private static List<String> differing(SolveOptions one, SolveOptions other) {
    Map<String, String> before = leaves(one);
    Map<String, String> after = leaves(other);
    return before.keySet().stream().filter(c -> !before.get(c).equals(after.get(c))).toList();
  }

  /** phase.component and its value as text. */
  private static Map<String, String> leaves(SolveOptions options) {
    var all = new LinkedHashMap<String, String>();
    for (RecordComponent phase : SolveOptions.class.getRecordComponents()) {
      Object group = value(phase, options);
      for (RecordComponent component : phase.getType().getRecordComponents()) {
        all.put(phase.getName() + "." + component.getName(), text(value(component, group)));
      }
    }
    return all;
  }

  private static Object value(RecordComponent component, Object of) {
    try {
      return component.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static String text(Object value) {
    // an array prints as its address
    return value instanceof SymbolicOptions s
        ? Stream.of(s.ordering(), s.given(), s.singletons(), s.amalgamation(), s.rhs())
                .map(String::valueOf)
                .collect(Collectors.joining())
            + Arrays.toString(s.notSingletons())
        : String.valueOf(value);
  }

  /** Each option as text, with a value other than the default, and one that is refused. */
  @Test
  void anOptionByItsNameIsTheMethodOfThisName() throws ReflectiveOperationException {
    int tried = 0;
    for (SolveOption<?> option : SolveOption.all()) {
      Class<?> boxed = option.type().javaClass();
      List<String> words = option.type().words();
      if (!option.type().isText()) {
        assertThatThrownBy(() -> GpuSparseQR.builder().option(option.name(), "x"))
            .hasMessageContaining("only Java");
        continue;
      }
      tried++;
      String text =
          option.type().isFlag()
              ? String.valueOf(option.defaultValue().orElseThrow().equals("false"))
              : words.isEmpty()
                  ? boxed == Double.class ? "0.25" : "3"
                  : words.get(words.size() - 1);
      Class<?> plain = MethodType.methodType(boxed).unwrap().returnType();
      GpuSparseQR.Builder called = GpuSparseQR.builder();
      GpuSparseQR.Builder.class.getMethod(option.name(), plain).invoke(called, option.parse(text));
      List<String> keyword = option.keyword().stream().toList();
      for (String name : Stream.concat(Stream.of(option.name()), keyword.stream()).toList()) {
        SolveOptions named = GpuSparseQR.builder().option(name, text).build().options();
        assertThat(leaves(named)).as(name).isEqualTo(leaves(called.build().options()));
        assertThat(differing(SolveOptions.defaults(), named)).as(name).hasSize(1);
      }
      assertThatThrownBy(() -> GpuSparseQR.builder().option(option.name(), "x"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith(option.name() + ": 'x' is n");
    }
    assertThat(tried).isGreaterThan(15);
    assertThatThrownBy(() -> GpuSparseQR.builder().option("speed", "1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no option speed");
  }

  /** A default that is a constant is what the options have without a call. */
  @Test
  void theDeclaredDefaultsHold() {
    Map<String, String> defaults = leaves(SolveOptions.defaults());
    int constants = 0;
    for (SolveOption<?> option : SolveOption.all()) {
      Optional<String> text = option.defaultValue();
      if (text.isPresent() && option.type().isText()) {
        constants++;
        SolveOptions set =
            GpuSparseQR.builder().option(option.name(), text.get()).build().options();
        assertThat(leaves(set)).as(option.name()).isEqualTo(defaults);
      }
    }
    assertThat(constants).isGreaterThan(9);
  }

  @Test
  void wordsAreReadInAnyCase() {
    assertThat(Words.ORDERINGS.of("ND")).isEqualTo(OrderingMethod.NESTED_DISSECTION);
    assertThatThrownBy(() -> Words.ORDERINGS.of("given"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'given' is none of auto, colamd, amd, nd, natural, best");
  }

  @Test
  void optionsHaveNoArraysInCommonWithTheirCaller() {
    int[] barred = {1, 2};
    SymbolicOptions symbolic = SymbolicOptions.defaults().withNotSingletons(barred);
    barred[0] = 7;
    symbolic.notSingletons()[1] = 7;
    assertThat(symbolic.notSingletons()).containsExactly(1, 2);
    int[] order = {2, 0, 1};
    var permutation = new Permutation(order);
    order[0] = 0;
    permutation.toArray()[0] = 0;
    assertThat(permutation.original(0)).isEqualTo(2);
  }

  @Test
  void nullAndWhatIsOutOfRangeIsRefusedBeforeAnyWork() {
    for (UnaryOperator<GpuSparseQR.Builder> wrong :
        List.<UnaryOperator<GpuSparseQR.Builder>>of(
            b -> b.backend(null),
            b -> b.storageLevel(null),
            b -> b.rankPolicy(null),
            b -> b.partitionOptions(null),
            b -> b.ordering(null),
            b -> b.permutation(null),
            b -> b.amalgamation(null),
            b -> b.listener(null),
            b -> b.analysis(null))) {
      assertThatThrownBy(() -> wrong.apply(GpuSparseQR.builder()).build())
          .isInstanceOf(NullPointerException.class);
    }
    for (UnaryOperator<GpuSparseQR.Builder> wrong :
        List.<UnaryOperator<GpuSparseQR.Builder>>of(
            b -> b.ordering(OrderingMethod.GIVEN),
            b -> b.ridge(-1),
            b -> b.ridge(Double.NaN),
            b -> b.rankTolerance(Double.NaN),
            b -> b.refinement(-1),
            b -> b.columns(-2),
            b -> b.executors(-1),
            b -> b.minimumExecutors(-1),
            b -> b.executorWait(-1),
            b -> b.executorWait(Double.NaN),
            b -> b.partitions(-1),
            b -> b.deviceMemoryBytes(-1),
            b -> b.storageLevel(StorageLevel.NONE()))) {
      assertThatThrownBy(() -> wrong.apply(GpuSparseQR.builder()).build())
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void afterCloseEveryMethodThrows() throws ReflectiveOperationException {
    QRFactorization f = GpuSparseQR.builder().factorize(Problems.rdd(A, 2, B));
    f.solve();
    f.close();
    Map<Class<?>, Object> arguments =
        Map.of(
            int.class,
            0,
            boolean.class,
            true,
            String.class,
            "unused",
            int[].class,
            new int[] {0},
            double[][].class,
            new double[1][1],
            List.class,
            List.of(),
            JavaRDD.class,
            labels(B, 2),
            RDD.class,
            Problems.rdd(A, 2, B).rdd());
    int called = 0;
    for (Method m : QRFactorization.class.getDeclaredMethods()) {
      if (!java.lang.reflect.Modifier.isPublic(m.getModifiers()) || m.getName().equals("close")) {
        continue;
      }
      Object[] given = Arrays.stream(m.getParameterTypes()).map(arguments::get).toArray();
      assertThat(given).as(m.toString()).doesNotContainNull();
      called++;
      assertThatThrownBy(() -> call(m, f, given))
          .as(m.toString())
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("this factorization is closed");
    }
    assertThat(called).isGreaterThanOrEqualTo(11);
    f.close();
  }

  private static void call(Method m, Object on, Object[] given) throws Throwable {
    try {
      m.invoke(on, given);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Test
  void furtherRightHandSidesAreCheckedAndRefinedAsTheFirst() {
    double[] c = Problems.rhs(60, SEED + 2);
    for (boolean keepQ : new boolean[] {true, false}) {
      GpuSparseQR.Builder builder = GpuSparseQR.builder().keepQ(keepQ);
      try (QRFactorization plain = builder.factorize(Problems.rdd(A, 2, B))) {
        assertThat(plain.solve(labels(c, 2)).report().residual().normalResidual()).isNaN();
      }
      try (QRFactorization f = builder.check(true).factorize(Problems.rdd(A, 2, B))) {
        double first = f.solve().report().residual().normalResidual();
        double further = f.solve(labels(c, 2)).report().residual().normalResidual();
        assertThat(further)
            .as("keepQ %s", keepQ)
            .isPositive()
            .isLessThan(Tolerances.NORMAL_RESIDUAL);
        assertThat(further).as("not that of the first").isNotEqualTo(first);
        assertThat(f.summary().residual().normalResidual()).isEqualTo(first);
        assertThat(f.solveRelabeled(Problems.rdd(A, 3, c)).report().residual().normalResidual())
            .isPositive()
            .isLessThan(Tolerances.NORMAL_RESIDUAL);
      }
    }
  }

  /** Two columns that differ by 1e-7: a step of refinement changes the last digits. */
  private static CsrMatrix badlyConditioned() {
    double[][] d = Problems.dense(Problems.random(40, 6, 3, SEED));
    for (int i = 0; i < d.length; i++) {
      d[i][5] = d[i][4] + 1e-6 * Math.sin(i);
    }
    int[] start = IntStream.rangeClosed(0, 40).map(i -> 6 * i).toArray();
    int[] index = IntStream.range(0, 240).map(k -> k % 6).toArray();
    double[] value = Arrays.stream(d).flatMapToDouble(Arrays::stream).toArray();
    return new CsrMatrix(40, 6, start, index, value);
  }

  @Test
  void stepsOfRefinementAreTakenForFurtherRightHandSidesToo() {
    CsrMatrix a = badlyConditioned();
    double[] c = Problems.rhs(40, SEED + 3);
    for (boolean keepQ : new boolean[] {true, false}) {
      var x = new ArrayList<double[]>();
      double residual = Double.POSITIVE_INFINITY;
      for (int steps : new int[] {0, 1, 2, 3}) {
        GpuSparseQR.Builder builder = GpuSparseQR.builder().keepQ(keepQ).refinement(steps);
        try (QRFactorization f = builder.factorize(Problems.rdd(a, 2, Problems.rhs(40, 1)))) {
          LeastSquaresSolution s = f.solve(labels(c, 2));
          x.add(s.x());
          assertThat(s.residualNorm()).as("never worse").isLessThanOrEqualTo(residual);
          residual = s.residualNorm() * (1 + 32 * Math.ulp(1.0));
        }
      }
      // the first step of the semi-normal equations is their own
      assertThat(Arrays.equals(x.get(0), x.get(1))).as("keepQ %s", keepQ).isEqualTo(!keepQ);
      assertThat(x.get(2)).as("keepQ %s", keepQ).isNotEqualTo(x.get(0));
    }
  }

  /** Without R, where its tasks bring the norm of the probe alone, and with R. */
  @Test
  void aSolveAloneFindsTheConditionOfTheFactorization() {
    CsrMatrix grid = Problems.grid(14, SEED);
    for (CsrMatrix a : List.of(grid, Problems.withSingletons(A, 9, SEED))) {
      double[][] b = {Problems.rhs(a.rows(), SEED), Problems.rhs(a.rows(), SEED + 1)};
      for (boolean equilibrated : new boolean[] {true, false}) {
        GpuSparseQR.Builder builder = GpuSparseQR.builder().equilibrate(equilibrated);
        LeastSquaresSolution alone = builder.build().solve(Problems.rdd(a, 3, b));
        try (QRFactorization f = builder.factorize(Problems.rdd(a, 3, b))) {
          double condition = f.summary().rankTest().conditionEstimate();
          assertThat(condition).isGreaterThan(1);
          assertThat(alone.report().rankTest().conditionEstimate())
              .isCloseTo(condition, within(Tolerances.REORDERED * condition));
          assertThat(alone.solutions()).isDeepEqualTo(f.solve().solutions());
        }
      }
    }
  }

  @Test
  void rowsOfAnotherMatrixAreNotSolvedWithThisOnesFactor() {
    double[] other = A.values().clone();
    other[17] *= 1.001;
    var changed = new CsrMatrix(60, 20, A.rowStart(), A.columnIndex(), other);
    for (double ridge : new double[] {0, 0.5}) {
      try (QRFactorization f =
          GpuSparseQR.builder().ridge(ridge).factorize(Problems.rdd(A, 2, B))) {
        assertThatThrownBy(() -> f.solveRelabeled(Problems.rdd(changed, 2, B)))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("rows of another matrix");
        assertThat(f.solveRelabeled(Problems.rdd(A, 4, B)).x())
            .containsExactly(f.solve().x(), within(Tolerances.REORDERED));
      }
    }
  }

  @Test
  void keepQOfOneSolveIsInTheWarnings() {
    SparseQRSolver keeping = GpuSparseQR.builder().keepQ(true).build();
    assertThat(keeping.solve(Problems.rdd(A, 2, B)).report().warnings())
        .containsExactly("keepQ is for factorize: a solve leaves nothing behind that could keep Q");
  }

  @Test
  void minimumNormIsRefusedByFactorizeAndTakesRankPolicyAndPermutation() {
    CsrMatrix wide = Problems.random(12, 30, 6, SEED);
    JavaRDD<SparseRow> rows = Problems.rdd(wide, 2, Problems.rhs(12, SEED));
    GpuSparseQR.Builder least = GpuSparseQR.builder().minimumNorm(true);
    assertThatThrownBy(() -> least.factorize(rows))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("minimumNorm is for solve");
    double[] x = least.solve(rows).x();

    SymbolicAnalysis known = SymbolicAnalyzer.analyze(wide.pattern(), SymbolicOptions.defaults());
    SparseQRSolver more =
        GpuSparseQR.builder()
            .minimumNorm(true)
            .permutation(Permutation.identity(30))
            .analysis(known)
            .check(true)
            .build();
    LeastSquaresSolution s = more.solve(rows);
    assertThat(s.x()).containsExactly(x, within(Tolerances.REORDERED));
    assertThat(s.report().warnings())
        .hasSize(3)
        .anyMatch(w -> w.startsWith("check: not measured"))
        .anyMatch(w -> w.startsWith("the given analysis"))
        .anyMatch(w -> w.startsWith("the given permutation"));

    assertThatThrownBy(() -> least.rankPolicy(RankPolicy.FAIL).solve(rows))
        .isInstanceOf(RankDeficientException.class)
        .hasMessageContaining("rank 12 of 30 columns");
  }

  @Test
  void aGivenOrderServesTheFirstOfTwoFactorizationsOfLeastNorm() {
    double[][] d = Problems.dense(Problems.random(30, 6, 3, SEED));
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < d.length; i++) {
      double[] twice = Arrays.copyOf(d[i], 7);
      twice[6] = twice[0];
      int[] index = IntStream.range(0, 7).filter(j -> twice[j] != 0).toArray();
      double[] value = Arrays.stream(index).mapToDouble(j -> twice[j]).toArray();
      rows.add(new SparseRow(index, value, new double[] {B[i]}, 1, 7));
    }
    var rdd = LocalSpark.context().parallelize(rows, 2);
    LeastSquaresSolution s =
        GpuSparseQR.builder()
            .minimumNorm(true)
            .permutation(Permutation.identity(7))
            .check(true)
            .solve(rdd);
    assertThat(s.rank()).isEqualTo(6);
    assertThat(s.x()[0]).isCloseTo(s.x()[6], within(Tolerances.REORDERED));
    assertThat(s.report().notes())
        .hasSize(1)
        .allMatch(w -> w.startsWith("minimum-norm solution by a second factorization"));
    assertThat(s.report().analysis().ordering()).isEqualTo("GIVEN");
    assertThat(s.report().residual().normalResidual()).isLessThan(Tolerances.NORMAL_RESIDUAL);
  }

  @Test
  void leastNormUnderARidgeThatIsNoneIsInTheWarnings() {
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      rows.add(new SparseRow(new int[] {0, 1}, new double[] {i + 1, i + 1}, i));
    }
    var rdd = LocalSpark.context().parallelize(rows, 2);
    GpuSparseQR.Builder builder = GpuSparseQR.builder().minimumNorm(true);
    assertThat(builder.ridge(1e-40).solve(rdd).report().warnings())
        .contains("a basic solution: minimumNorm has no effect under a ridge");
    assertThat(builder.ridge(1).solve(rdd).report().warnings()).isEmpty();
    try (QRFactorization f = builder.ridge(1).factorize(rdd)) {
      assertThat(f.solve().x()[0]).isCloseTo(f.solve().x()[1], within(Tolerances.roundings(32, 1)));
    }
  }

  /** The earlier calls, in which an empty name stands for no weights. */
  @SuppressWarnings("deprecation")
  private static void refusesAWeightInPlaceOfALabel(SparseQRSolver solver, Dataset<Row> data) {
    assertThatThrownBy(() -> solver.solve(data, "features", "label"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no label column");
    assertThatThrownBy(() -> solver.factorize(data, "features", "label"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(solver.solve(data, "features", "", "label").x())
        .containsExactly(solver.solve(data).x());
  }

  @Test
  void aDatasetWithoutLabelColumnsIsRefused() {
    Dataset<Row> data =
        LocalSpark.session()
            .createDataFrame(
                List.of(
                    org.apache.spark.sql.RowFactory.create(
                        org.apache.spark.ml.linalg.Vectors.dense(1, 2), 3.0)),
                new org.apache.spark.sql.types.StructType()
                    .add("features", org.apache.spark.ml.linalg.SQLDataTypes.VectorType())
                    .add("label", "double"));
    SparseQRSolver solver = GpuSparseQR.builder().minimumNorm(true).build();
    assertThat(solver.solve(data).x())
        .containsExactly(new double[] {0.6, 1.2}, within(Tolerances.roundings(8, 1)));
    try (QRFactorization f = GpuSparseQR.builder().factorize(data)) {
      assertThat(f.rank()).isEqualTo(1);
    }
    assertThatThrownBy(() -> RowColumns.of("features"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no label column");
    refusesAWeightInPlaceOfALabel(solver, data);
  }
}
