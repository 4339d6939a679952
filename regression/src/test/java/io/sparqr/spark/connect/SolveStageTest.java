/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.RankDeficientException;
import io.sparqr.spark.ForeignClasses;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** A solve as a stage, in this class loader and in one that tasks cannot use. */
class SolveStageTest {

  private static Dataset<Row> data(long seed, int rows, int columns) {
    var random = new Random(seed);
    List<Row> all = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      double[] x = random.doubles(columns, -1, 1).toArray();
      all.add(
          RowFactory.create(
              random.nextGaussian(),
              random.nextGaussian(),
              0.5 + random.nextDouble(),
              Vectors.dense(x),
              "level " + i % 3));
    }
    return LocalSpark.session()
        .createDataFrame(
            all,
            new StructType()
                .add("label", DataTypes.DoubleType)
                .add("other", DataTypes.DoubleType)
                .add("w", DataTypes.DoubleType)
                .add("features", SQLDataTypes.VectorType())
                .add("level", DataTypes.StringType));
  }

  private static double[] numbers(List<Row> rows, String name) {
    return rows.stream()
        .filter(r -> r.getString(0).equals(name))
        .map(r -> ByteBuffer.wrap(r.getAs(3)).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer())
        .flatMapToDouble(b -> java.util.stream.DoubleStream.generate(b::get).limit(b.remaining()))
        .toArray();
  }

  @Test
  void solvesAsTheSolverDoes() {
    Dataset<Row> data = data(3, 40, 5);
    LeastSquaresSolution expected =
        GpuSparseQR.builder()
            .ridge(0.25)
            .build()
            .solve(
                data,
                io.sparqr.spark.model.RowColumns.of("features", "label", "other").weighted("w"));
    var stage = new Solve("mine");
    stage.set(stage.weightCol(), "w");
    stage.set(stage.labelCols(), new String[] {"label", "other"});
    stage.set(stage.options(), new String[] {"ridge=0.25", "ordering=auto", "check=true"});
    List<Row> found = stage.copy(stage.extractParamMap()).transform(data).collectAsList();
    assertThat(found.get(0).getString(2)).contains("\"rank\"", "\"normalResidual\"");
    assertThat(numbers(found, "0")).containsExactly(expected.x(0));
    assertThat(numbers(found, "1")).containsExactly(expected.x(1));
    assertThat(stage.uid()).isEqualTo("mine");
    assertThat(stage.transformSchema(data.schema()).fieldNames())
        .containsExactly("name", "part", "text", "numbers");
  }

  @Test
  void refusesWhatIsNoOption() {
    Dataset<Row> data = data(4, 9, 2);
    for (String wrong : List.of("ridge", "=1", "rigde=1", "check=yes", "ridge=much")) {
      var stage = new Solve();
      stage.set(stage.options(), new String[] {wrong});
      assertThatThrownBy(() -> stage.transform(data))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
    var strict = new Solve();
    strict.set(
        strict.options(), new String[] {"columns=2", "rankPolicy=fail", "rankTolerance=1e3"});
    assertThatThrownBy(() -> strict.transform(data)).isInstanceOf(RankDeficientException.class);
  }

  private static List<String> found(String kind) throws ClassNotFoundException {
    return ServiceLoader.load(Class.forName(kind)).stream().map(p -> p.type().getName()).toList();
  }

  @Test
  void isFoundByServiceLoaders() throws ClassNotFoundException {
    assertThat(found("org.apache.spark.ml.Transformer"))
        .contains(
            Solve.class.getName(),
            ArrayProblem.class.getName(),
            FactorizedArrays.class.getName(),
            "io.sparqr.spark.ml.SparseQRRegressionModel",
            "sparqr.ml.SparseQRRegressionModel");
    assertThat(found("org.apache.spark.ml.Estimator"))
        .contains(
            FactorizeArrays.class.getName(),
            "io.sparqr.spark.ml.SparseQRRegression",
            "sparqr.ml.SparseQRRegression");
  }

  @Test
  void worksWhereTasksHaveOtherClassesThanTheDriver() throws Exception {
    Dataset<Row> data = data(5, 40, 5).repartition(2);
    var loader = new ForeignClasses();
    Class<?> stage = loader.loadClass(Solve.class.getName());
    assertThat(stage).isNotSameAs(Solve.class);
    var foreign = (Transformer) stage.getConstructor().newInstance();
    List<Row> found = foreign.transform(data).collectAsList();
    assertThat(numbers(found, "0")).containsExactly(GpuSparseQR.solve(data).x());
  }

  @Test
  void fitsWhereTasksHaveOtherClassesThanTheDriver() throws Exception {
    Dataset<Row> data = data(6, 40, 2);
    var own = new io.sparqr.spark.ml.SparseQRRegression().setFormula("label ~ level + w");
    var loader = new ForeignClasses();
    Estimator<?> foreign =
        (Estimator<?>) loader.loadClass(own.getClass().getName()).getConstructor().newInstance();
    foreign.set(foreign.getParam("formula"), own.getFormula());
    var model = (Transformer) foreign.fit(data);
    var expected = own.fit(data);
    for (String output : List.of("prediction", "coefficients", "errors", "metrics", "text")) {
      model.set(model.getParam("output"), output);
      assertThat(model.transform(data).collectAsList())
          .as(output)
          .usingRecursiveComparison()
          .isEqualTo(expected.setOutput(output).transform(data).collectAsList());
    }
  }
}
