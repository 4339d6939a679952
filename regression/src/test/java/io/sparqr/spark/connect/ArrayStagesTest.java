/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.ForeignClasses;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.engine.LocalFolder;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.param.Param;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Matrices in pieces, as a client of Spark Connect sends them. */
class ArrayStagesTest {

  private static final long SEED = 49;
  private static final int M = 120;
  private static final int N = 9;

  private static final StructType SCHEMA =
      new StructType()
          .add("name", DataTypes.StringType)
          .add("part", DataTypes.IntegerType)
          .add("parts", DataTypes.IntegerType)
          .add("columns", DataTypes.IntegerType)
          .add("indptr", DataTypes.BinaryType)
          .add("indices", DataTypes.BinaryType)
          .add("data", DataTypes.BinaryType)
          .add("labels", DataTypes.BinaryType)
          .add("weights", DataTypes.BinaryType);

  private final CsrMatrix a = Problems.random(M, N, 4, SEED);
  private final double[] b = Problems.rhs(M, SEED);

  /** Whatever the outcome, no files stay. */
  @AfterEach
  void noFolderIsLeft() throws IOException {
    assertThat(folders()).isEmpty();
  }

  private static List<Path> folders() throws IOException {
    try (var within = Files.list(LocalFolder.path())) {
      return within.filter(p -> p.getFileName().toString().startsWith("sparqr-")).toList();
    }
  }

  private static byte[] doubles(double[] values, int from, int to) {
    ByteBuffer bytes = ByteBuffer.allocate(8 * (to - from)).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asDoubleBuffer().put(values, from, to - from);
    return bytes.array();
  }

  private static Row piece(CsrMatrix a, double[] b, int part, int parts) {
    int first = part * a.rows() / parts;
    int last = (part + 1) * a.rows() / parts;
    ByteBuffer starts = ByteBuffer.allocate(8 * (last - first + 1)).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = first; i <= last; i++) {
      starts.putLong(a.rowStart()[i]);
    }
    int from = a.rowStart()[first];
    int to = a.rowStart()[last];
    ByteBuffer indices = ByteBuffer.allocate(4 * (to - from)).order(ByteOrder.LITTLE_ENDIAN);
    indices.asIntBuffer().put(a.columnIndex(), from, to - from);
    return RowFactory.create(
        "A",
        part,
        parts,
        a.columns(),
        starts.array(),
        indices.array(),
        doubles(a.values(), from, to),
        doubles(b, first, last),
        null);
  }

  private static List<Row> pieces(CsrMatrix a, double[] b) {
    return List.of(piece(a, b, 0, 3), piece(a, b, 1, 3), piece(a, b, 2, 3));
  }

  private static Dataset<Row> table(List<Row> pieces) {
    return LocalSpark.session().createDataFrame(pieces, SCHEMA);
  }

  private static Dataset<Row> labels(double[] b) {
    return table(
        List.of(RowFactory.create("b", 0, 1, 1, null, null, null, doubles(b, 0, b.length), null)));
  }

  private static String text(List<Row> rows, String name) {
    return rows.stream()
        .filter(r -> r.getString(0).equals(name))
        .findFirst()
        .orElseThrow()
        .getAs("text");
  }

  private static double[] numbers(List<Row> rows, String name) {
    Row found = rows.stream().filter(r -> r.getString(0).equals(name)).findFirst().orElseThrow();
    byte[] bytes = found.getAs("numbers");
    double[] values = new double[bytes.length / 8];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(values);
    return values;
  }

  private static ArrayProblem stage(String work, String... words) {
    var stage = new ArrayProblem();
    stage.set(stage.work(), work);
    stage.set(stage.words(), words);
    return stage;
  }

  private static List<Row> asked(
      FactorizedArrays model, String work, Dataset<Row> with, String... words) {
    FactorizedArrays copy = model.copy(model.extractParamMap());
    copy.set(copy.work(), work);
    copy.set(copy.words(), words);
    return copy.transform(with).collectAsList();
  }

  private static FactorizedArrays model(Dataset<Row> pieces) {
    var stage = new FactorizeArrays("mine");
    stage.set(stage.words(), new String[] {"partitions=2", "keepQ=true"});
    return stage.copy(stage.extractParamMap()).fit(pieces);
  }

  @Test
  void solvesAsTheSolverDoes() {
    List<Row> found =
        stage("solve", "partitions=1", "standardErrors=true")
            .transform(table(pieces(a, b)))
            .collectAsList();
    try (QRFactorization f = GpuSparseQR.builder().factorize(Problems.rdd(a, 1, b))) {
      assertThat(numbers(found, "x0")).containsExactly(f.solve().x());
      assertThat(numbers(found, "errors0")).containsExactly(f.standardErrors());
      assertThat(numbers(found, "norms")).containsExactly(f.solve().residualNorms());
      int[] order = Arrays.stream(numbers(found, "permutation")).mapToInt(x -> (int) x).toArray();
      assertThat(order).containsExactly(f.analysis().permutation().toArray());
    }
  }

  @Test
  void theTableHasTheRowsInOrder() {
    Dataset<Row> made = stage("table", "partitions=3").transform(table(pieces(a, b)));
    assertThat(made.rdd().getNumPartitions()).isEqualTo(3);
    List<Row> rows = made.collectAsList();
    assertThat(rows).hasSize(M);
    for (int i = 0; i < M; i++) {
      SparseVector v = rows.get(i).getAs("features");
      int from = a.rowStart()[i];
      int to = a.rowStart()[i + 1];
      assertThat(v.size()).isEqualTo(N);
      assertThat(v.indices()).containsExactly(Arrays.copyOfRange(a.columnIndex(), from, to));
      assertThat(v.values()).containsExactly(Arrays.copyOfRange(a.values(), from, to));
      assertThat(rows.get(i).<Double>getAs("label")).isEqualTo(b[i]);
    }
  }

  @Test
  void refusesWhatIsMissingOrUnknown() {
    List<Row> all = pieces(a, b);
    for (String work : List.of("solve", "table", "analyze")) {
      assertThatThrownBy(() -> stage(work).transform(table(all.subList(0, 2))))
          .isInstanceOf(WireFormatException.class)
          .hasMessage("2 of 3 pieces of A have come");
      assertThatThrownBy(() -> stage(work).transform(table(List.of(all.get(0), all.get(2)))))
          .isInstanceOf(WireFormatException.class)
          .hasMessage("piece 2 of A where 1 should be");
    }
    assertThatThrownBy(() -> stage("guess").transform(table(all)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no work guess");
    assertThatThrownBy(() -> stage("solve", "partitions").transform(table(all)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("name=value");
    FactorizedArrays model = model(table(all));
    assertThatThrownBy(() -> asked(model, "guess", labels(b)))
        .isInstanceOf(IllegalArgumentException.class);
    asked(model, "close", labels(b));
  }

  @Test
  void keepsAFactorizationUntilItIsClosed() throws IOException {
    FactorizedArrays model = model(table(pieces(a, b)));
    assertThat(folders()).hasSize(1);
    double[] other = Problems.rhs(M, SEED + 1);
    var twice = new CsrMatrix(M, N, a.rowStart(), a.columnIndex(), scaled(a.values()));
    double[] x = numbers(asked(model, "solve", labels(b)), "x0");
    double[] further = numbers(asked(model, "further", labels(other)), "x0");
    asked(model, "refit", table(pieces(twice, b)));
    assertThat(folders()).hasSize(1);
    double[] half = numbers(asked(model, "solve", labels(b)), "x0");
    // the kept Q is of other combinations of the rows
    assertThat(x).containsExactly(numbers(solved(b), "x0"), within(Tolerances.REORDERED));
    assertThat(further).containsExactly(numbers(solved(other), "x0"), within(Tolerances.REORDERED));
    for (int j = 0; j < N; j++) {
      assertThat(2 * half[j]).isEqualTo(x[j]);
    }
    asked(model, "close", labels(b));
    asked(model, "close", labels(b));
    assertThatThrownBy(() -> asked(model, "solve", labels(b)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  private static CsrMatrix rows(CsrMatrix a, int from, int to) {
    int first = a.rowStart()[from];
    int last = a.rowStart()[to];
    int[] start = Arrays.stream(a.rowStart(), from, to + 1).map(s -> s - first).toArray();
    return new CsrMatrix(
        to - from,
        a.columns(),
        start,
        Arrays.copyOfRange(a.columnIndex(), first, last),
        Arrays.copyOfRange(a.values(), first, last));
  }

  private static FactorizedArrays loaded(Path folder) {
    var stage = new FactorizeArrays();
    stage.set(stage.words(), new String[] {"load=" + folder});
    return stage.fit(LocalSpark.session().range(0));
  }

  /** Appended to one another, and to one that was loaded; each is closed by itself. */
  @Test
  void keepsThoseToWhichRowsWereAppended(@TempDir Path place) throws IOException {
    int[] cut = {0, 80, 100, M};
    List<Dataset<Row>> parts = new ArrayList<>();
    for (int k = 0; k + 1 < cut.length; k++) {
      double[] of = Arrays.copyOfRange(b, cut[k], cut[k + 1]);
      parts.add(table(pieces(rows(a, cut[k], cut[k + 1]), of)));
    }
    FactorizedArrays model = model(parts.get(0));
    List<Row> told = asked(model, "append", parts.get(1));
    assertThat(text(told, "number")).isEqualTo("1");
    assertThat(text(told, "columns")).isEqualTo("" + N);
    assertThat(text(asked(model, "append", parts.get(2), "of=1"), "number")).isEqualTo("2");
    assertThat(folders()).hasSize(3);
    double[] expected = numbers(solved(b), "x0");
    double[] x = numbers(asked(model, "solve", labels(b), "of=2"), "x0");
    assertThat(x).containsExactly(expected, within(Tolerances.REORDERED));
    assertThat(numbers(asked(model, "solve", labels(b)), "x0")).isNotEqualTo(x);
    assertThatThrownBy(() -> asked(model, "further", labels(b), "of=2"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no rows to align numbers with");
    Path folder = place.resolve("saved");
    asked(model, "save", labels(b), "of=1", "folder=" + folder);
    asked(model, "close", labels(b), "of=1");
    assertThat(numbers(asked(model, "solve", labels(b), "of=2"), "x0")).containsExactly(x);
    assertThatThrownBy(() -> asked(model, "solve", labels(b), "of=1"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    asked(model, "close", labels(b), "of=2");
    assertThat(folders()).hasSize(1);
    asked(model, "close", labels(b));
    FactorizedArrays back = loaded(folder);
    asked(back, "append", parts.get(2));
    assertThat(numbers(asked(back, "solve", labels(b), "of=1"), "x0"))
        .containsExactly(expected, within(Tolerances.REORDERED));
    asked(back, "close", labels(b), "of=1");
    asked(back, "close", labels(b));
  }

  @Test
  void aFolderWithoutAFactorizationIsAnAnswer(@TempDir Path place) {
    List<Row> told = asked(loaded(place), "state", labels(b));
    assertThat(text(told, "missing")).isEqualTo(place + ": no saved factorization");
  }

  private List<Row> solved(double[] other) {
    return stage("solve", "partitions=2").transform(table(pieces(a, other))).collectAsList();
  }

  private static double[] scaled(double[] values) {
    return Arrays.stream(values).map(v -> 2 * v).toArray();
  }

  /** A server from 4.1 on writes models by a method that Spark 4.0 does not have. */
  @Test
  void aModelThatTheServerLetGoSaysSo(@TempDir Path place) throws Exception {
    FactorizedArrays model = model(table(pieces(a, b)));
    Path file = place.resolve("model");
    var save = model.write().getClass().getMethod("saveToLocal", String.class);
    save.setAccessible(true);
    save.invoke(model.write(), file.toString());
    assertThat(file).isDirectory();
    FactorizedArrays back = FactorizedArrays.read().load(file.toString());
    assertThatThrownBy(() -> back.transform(labels(b)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the server has let this factorization go");
    assertThat(back.estimatedSize()).isPositive();
    assertThatThrownBy(() -> model.write().save(file + "2"))
        .isInstanceOf(UnsupportedOperationException.class);
    asked(model, "close", labels(b));
  }

  @Test
  void worksWhereTasksHaveOtherClassesThanTheDriver() throws Exception {
    Dataset<Row> all = table(pieces(a, b));
    var loader = new ForeignClasses();
    var foreign =
        (Transformer) loader.loadClass(ArrayProblem.class.getName()).getConstructor().newInstance();
    Param<Object> words = foreign.getParam("words");
    foreign.set(words, new String[] {"partitions=2", "r=true"});
    var expected = stage("solve", "partitions=2", "r=true");
    List<Row> found = foreign.transform(all).collectAsList();
    List<Row> same = expected.transform(all).collectAsList();
    for (String name : List.of("x0", "r.data", "r.indices", "r.indptr")) {
      assertThat(numbers(found, name)).containsExactly(numbers(same, name));
    }
    foreign.set(foreign.getParam("work"), "table");
    assertThat(new ArrayList<>(foreign.transform(all).collectAsList()))
        .isEqualTo(stage("table").transform(all).collectAsList());
  }
}
