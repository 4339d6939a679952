/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.design.Design;
import io.sparqr.spark.design.DesignOptions;
import io.sparqr.spark.inference.ClusterCorrection;
import io.sparqr.spark.inference.HcType;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.inference.LeaveOutVariance;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.ml.SparseQRRegressionModel;
import io.sparqr.spark.model.InverseBlock;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.table.TableOptions;
import io.sparqr.spark.table.TableReader;
import io.sparqr.spark.tall.RobustPca;
import io.sparqr.spark.tall.TallSkinnyQR;
import io.sparqr.sparse.CsrMatrix;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.regression.LabeledPoint;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;

/** Every public call that sends something, on small data, under Kryo that refuses the unknown. */
final class KryoCalls {

  /** One call; its answers are the matter of other tests. */
  interface Call {
    void run() throws Exception;
  }

  private final JavaSparkContext context;
  private final SparkSession session;
  private final Path folder;
  private final Map<String, Call> calls = new LinkedHashMap<>();

  private final CsrMatrix a = Problems.grid(9, 20260109L);
  private final double[] b = Problems.rhs(a.rows(), 1);

  KryoCalls(SparkSession session, Path folder) {
    this.session = session;
    this.context = JavaSparkContext.fromSparkContext(session.sparkContext());
    this.folder = folder;
    solves();
    factorizations();
    files();
    tall();
    inference();
    regressions();
  }

  /** Kryo, strict, with our registrator alone. */
  static SparkConf strict(SparkConf conf) {
    return conf.set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.kryo.registrationRequired", "true")
        .set("spark.kryo.registrator", SparqrRegistrator.class.getName());
  }

  Map<String, Call> all() {
    return calls;
  }

  private JavaRDD<SparseRow> rows() {
    return context
        .parallelize(Problems.rows(a, b), 3)
        .map(r -> r)
        .persist(StorageLevel.MEMORY_ONLY_SER());
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder().partitionOptions(new PartitionOptions(2, 4, 2, 0));
  }

  private JavaRDD<LabeledPoint> points() {
    return context.parallelize(
        IntStream.range(0, 20)
            .mapToObj(i -> new LabeledPoint(i % 5, Vectors.dense(1, i, i % 3)))
            .toList(),
        3);
  }

  private void solves() {
    calls.put("solve", () -> solver().check(true).profile(true).build().solve(rows()));
    calls.put("solve points", () -> GpuSparseQR.solve(points()));
    calls.put("solve a table", () -> solver().build().solve(vectors()));
    calls.put("ridge path", () -> solver().build().ridgePath(rows(), 0.1, 1, 10));
    calls.put(
        "minimum norm",
        () ->
            solver()
                .minimumNorm(true)
                .build()
                .solve(context.parallelize(Problems.rows(wide(), Problems.rhs(6, 2)), 2)));
    calls.put(
        "constraints",
        () -> {
          var one = LinearConstraints.of(new SparseRow(new int[] {0, 1}, new double[] {1, 1}, 3));
          solver().build().solve(rows(), one);
          try (var f = solver().build().factorize(rows(), one)) {
            f.solve();
            f.standardErrors();
            f.multipliers(0);
          }
        });
  }

  private static CsrMatrix wide() {
    return Problems.random(6, 15, 5, 4);
  }

  private interface Use {
    void of(QRFactorization f) throws Exception;
  }

  private void factored(String name, Use use) {
    calls.put(
        name,
        () -> {
          try (QRFactorization f =
              solver().storageLevel(StorageLevel.MEMORY_AND_DISK_SER()).build().factorize(rows())) {
            use.of(f);
          }
        });
  }

  private void factorizations() {
    SparseRow one = new SparseRow(new int[] {0, 7}, new double[] {1, -1}, 0);
    factored("solve again", QRFactorization::solve);
    factored("solve relabeled", f -> f.solveRelabeled(rows()));
    factored(
        "right-hand sides",
        f -> f.solve(rows().map(r -> new double[] {r.labels()[0], 2 * r.labels()[0]})));
    factored("standard errors", QRFactorization::standardErrors);
    factored("unscaled errors", QRFactorization::unscaledErrors);
    factored("leverages", f -> f.leverages().collect());
    factored("inverse", f -> f.inverseTimes(List.of(one, one)));
    factored("part of the inverse", f -> f.inverseTimes(List.of(one, one), new int[] {0}));
    factored(
        "block of the inverse",
        f -> {
          try (InverseBlock z = f.inverseBlock(0, 1, 2)) {
            z.strip(0, 3);
          }
        });
    factored("half solve", f -> f.halfSolve(List.of(one)));
    factored("R", QRFactorization::collectR);
    factored("append", f -> f.append(rows()).close());
    factored(
        "saved",
        f -> {
          String to = folder.resolve("saved").toUri().toString();
          f.save(to);
          try (QRFactorization back = GpuSparseQR.load(context, to)) {
            back.solve();
          }
        });
    calls.put(
        "dependencies",
        () -> {
          var twice =
              points().map(p -> new LabeledPoint(p.label(), Vectors.dense(1, 2, p.label(), 3)));
          try (QRFactorization f = solver().build().factorize(twice)) {
            f.dependencies();
            f.standardErrors();
          }
        });
  }

  private void files() {
    calls.put(
        "Matrix Market",
        () -> {
          Path file = folder.resolve("a.mtx");
          var text = new StringBuilder("%%MatrixMarket matrix coordinate real general\n20 3 40\n");
          for (int i = 1; i <= 20; i++) {
            text.append(i).append(" 1 1\n").append(i).append(' ').append(2 + i % 2).append(" 2\n");
          }
          Files.writeString(file, text);
          JavaRDD<SparseRow> rows = MatrixFiles.matrixMarket(context, file.toString());
          rows.collect();
          GpuSparseQR.solve(rows);
        });
    calls.put(
        "LIBSVM",
        () -> {
          Path file = folder.resolve("a.libsvm");
          var text = new StringBuilder();
          for (int i = 0; i < 30; i++) {
            text.append(i).append(" 1:1 ").append(2 + i % 3).append(":0.5\n");
          }
          Files.writeString(file, text);
          GpuSparseQR.solve(MatrixFiles.libsvm(context, file.toString()));
        });
    calls.put(
        "CSV",
        () -> {
          Path file = folder.resolve("t.csv");
          Files.writeString(file, "y,x,g\n1,2,a\n2,3,b\n3,5,a\n4,1,b\n2,2,a\n");
          var options = TableOptions.builder().build();
          Dataset<Row> table = TableReader.csv(session, "t.csv", file.toString(), options).rows();
          table.count();
          assertThat(new SparseQRRegression().setFormula("y ~ x + g").fit(table).summary())
              .asString()
              .contains("gb");
        });
  }

  private void tall() {
    calls.put(
        "tall and skinny",
        () -> {
          var random = new Random(5);
          List<double[]> rows = new ArrayList<>();
          for (int i = 0; i < 90; i++) {
            rows.add(random.doubles(4).toArray());
          }
          JavaRDD<double[]> rdd = context.parallelize(rows, 4);
          try (TallSkinnyQR qr = TallSkinnyQR.builder().factorize(rdd)) {
            qr.q().collect();
            qr.qTimes(qr.r()).collect();
            qr.qTransposed(rdd);
            qr.solve(rdd);
            qr.rank(1e-10);
            qr.svd(2);
          }
          try (RobustPca pca = RobustPca.builder().maxIterations(3).decompose(rdd)) {
            pca.u().collect();
            pca.lowRank().collect();
            pca.sparse().collect();
          }
        });
  }

  private void inference() {
    factored(
        "influence",
        f -> {
          Inference i = Inference.of(f, rows());
          i.influence().collect();
          i.influence().repartition(2).collect();
          i.press();
          i.predict(Problems.rows(a, b).subList(0, 2));
        });
    factored(
        "robust errors",
        f -> {
          Inference i = Inference.of(f, rows());
          i.covariance(0, 1);
          i.robust(HcType.HC1, 0, 1).standardErrors();
          i.robust(HcType.HC3, 0, 1).standardErrors();
          i.waldTest(List.of(new SparseRow(new int[] {0}, new double[] {1}, 0)));
        });
    factored(
        "clustered errors",
        f -> {
          Inference i = Inference.of(f, rows());
          JavaRDD<Long> keys =
              rows().zipWithIndex().map(t -> t._2() % 9).persist(StorageLevel.MEMORY_ONLY());
          i.clustered(ClusterCorrection.sandwich(), keys, 0, 1).standardErrors();
          JavaRDD<String> texts = keys.map(k -> "k" + k % 4);
          i.clustered(ClusterCorrection.fixest(), keys, texts, 0, 1).standardErrors();
        });
    calls.put(
        "variance components",
        () -> {
          var random = new Random(8);
          List<SparseRow> panel = new ArrayList<>();
          for (int i = 0; i < 80; i++) {
            int[] places = {i % 10, 10 + random.nextInt(3)};
            panel.add(new SparseRow(places, new double[] {1, 1}, random.nextGaussian()));
          }
          JavaRDD<SparseRow> rdd = context.parallelize(panel, 3);
          try (QRFactorization f = solver().drop(12).build().factorize(rdd)) {
            LeaveOutVariance.of(
                Inference.of(f, rdd), IntStream.range(0, 10).toArray(), new int[] {10, 11, 12});
          }
        });
  }

  private Dataset<Row> table() {
    var random = new Random(3);
    List<Row> data = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      double x = random.nextGaussian();
      data.add(
          RowFactory.create(1 + x + i % 4 + random.nextGaussian(), x, "f " + i % 4, "w" + i % 9));
    }
    return session.createDataFrame(
        data,
        new StructType()
            .add("y", "double")
            .add("x", "double")
            .add("firm", "string")
            .add("worker", "string"));
  }

  private Dataset<Row> vectors() {
    return new org.apache.spark.ml.feature.VectorAssembler()
        .setInputCols(new String[] {"x", "y"})
        .setOutputCol("features")
        .transform(table())
        .withColumnRenamed("y", "label");
  }

  private void regression(String name, SparseQRRegression stage, Dataset<Row> data) {
    calls.put(
        name,
        () -> {
          SparseQRRegressionModel model = stage.fit(data);
          var s = model.summary();
          s.toDataFrame().collectAsList();
          assertThat(s).asString().contains("Residuals");
          s.predictions().collectAsList();
          s.residuals().collectAsList();
          s.residualQuartiles();
          s.meanAbsoluteError();
          s.explainedVariance();
          s.dependencies().collectAsList();
          s.absorbedEffects().collectAsList();
          model.transform(data).collectAsList();
          String to = folder.resolve(name.replace(' ', '-')).toUri().toString();
          model.save(to);
          SparseQRRegressionModel.load(to).transform(data).collectAsList();
        });
  }

  private void regressions() {
    regression("regression of vectors", new SparseQRRegression().setWeightCol("x2"), weighted());
    regression("formula", new SparseQRRegression().setFormula("y ~ x + firm"), table());
    regression(
        "absorbed",
        new SparseQRRegression()
            .setFormula("y ~ x | worker + firm")
            .setClusterCols(new String[] {"worker", "firm"}),
        table());
    regression("HC2", new SparseQRRegression().setFormula("y ~ x * firm").setVcov("HC2"), table());
    regression("ridge", new SparseQRRegression().setFormula("y ~ x").setRegParam(0.1), table());
    calls.put(
        "design",
        () -> {
          DesignOptions options = DesignOptions.builder().formula("y ~ x + firm").build();
          Design design = Design.of(table(), options);
          try (var rows = design.rows(table())) {
            rows.rows().collect();
          }
          String to = folder.resolve("design").toUri().toString();
          design.save(session, to);
          assertThat(Design.load(session, to)).isPresent();
        });
  }

  private Dataset<Row> weighted() {
    return vectors().selectExpr("features", "label", "firm", "x * x x2");
  }
}
