/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.partition.ResourceModel;
import io.sparqr.spark.ConstrainedFactorization;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.arrays.ArrayRows;
import io.sparqr.spark.arrays.SentArrays;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.python.Parcels;
import io.sparqr.spark.python.PythonAnalysis;
import io.sparqr.spark.python.PythonSupport;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * What {@code lstsq}, {@code analyze} and {@code from_scipy} in Python do over Spark Connect, as a
 * transformer of the arrays of A, which {@link SentArrays} describes. It works in {@link
 * #transform}, once, in the thread of the call.
 */
public final class ArrayProblem extends Transformer {

  private static final long serialVersionUID = 1;

  private final String uid;
  private final Param<String> work;
  private final StringArrayParam options;
  private final StringArrayParam words;

  /** An instance with a random uid. */
  public ArrayProblem() {
    this("sparqrArrays_" + UUID.randomUUID().toString().substring(24));
  }

  /** An instance with a given uid. */
  public ArrayProblem(String uid) {
    this.uid = uid;
    work = new Param<>(uid, "work", "solve, analyze or table");
    options =
        new StringArrayParam(this, "options", "options of GpuSparseQR.Builder, each as name=value");
    words = new StringArrayParam(this, "words", "what else is wanted, each as name=value");
    setDefault(work, "solve");
    setDefault(options, new String[0]);
    setDefault(words, new String[0]);
  }

  @Override
  public String uid() {
    return uid;
  }

  /**
   * "solve" (default): the solution as {@link Parcels}; "analyze": the JSON of {@link
   * PythonAnalysis} as a parcel "analysis"; "table": the rows as a Dataset of vectors.
   */
  public Param<String> work() {
    return work;
  }

  /** Options of the solver, each as name=value; default none. */
  public StringArrayParam options() {
    return options;
  }

  /**
   * What else is wanted, each as name=value; default none. Of a solution: partitions,
   * standardErrors, r. Of an analysis: partitions, ordering, executors, gpu, flopsPerSecond,
   * memory. Of a table: partitions.
   */
  public StringArrayParam words() {
    return words;
  }

  /**
   * Does the work.
   *
   * @throws IllegalArgumentException for an unknown option or work, or an invalid value; other
   *     errors as in {@link SparseQRSolver#solve(Dataset)}
   */
  @Override
  public Dataset<Row> transform(Dataset<?> pieces) {
    var wanted = new Words(getOrDefault(words));
    int partitions = wanted.count("partitions");
    try {
      return switch (getOrDefault(work)) {
        case "table" -> SentArrays.table(pieces, partitions);
        case "analyze" -> analyzed(pieces, wanted).table(pieces.sparkSession());
        case "solve" -> solved(pieces, wanted).table(pieces.sparkSession());
        default -> throw new IllegalArgumentException("no work " + getOrDefault(work));
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Parcels solved(Dataset<?> pieces, Words wanted) throws IOException {
    SparseQRSolver solver = PythonSupport.builder(List.of(getOrDefault(options))).build();
    try (var sent = SentArrays.receive(pieces)) {
      ArrayRows rows = sent.rows(Answers.MATRIX, wanted.count("partitions"));
      if (sent.has(Answers.CONSTRAINTS)) {
        var equations = LinearConstraints.of(sent.few(Answers.CONSTRAINTS));
        try (ConstrainedFactorization f = solver.factorize(rows.rows(), equations)) {
          return Answers.constrained(f, wanted);
        }
      }
      var problem = solver.options().problem();
      if (solver.options().solution().minimumNorm() && !problem.ridge().any()) {
        LeastSquaresSolution found = solver.solve(rows.rows());
        return Answers.solution(found, found.report());
      }
      try (QRFactorization f = solver.factorize(rows.rows())) {
        return Answers.first(f, wanted, sent);
      }
    }
  }

  private static Parcels analyzed(Dataset<?> pieces, Words wanted) throws IOException {
    ResourceModel.Worker like =
        wanted.yes("gpu")
            ? PythonAnalysis.gpu()
            : PythonAnalysis.cpu(wanted.number("flopsPerSecond"), (long) wanted.number("memory"));
    try (var sent = SentArrays.receive(pieces)) {
      ArrayRows rows = sent.rows(Answers.MATRIX, wanted.count("partitions"));
      return new Parcels()
          .text(
              "analysis",
              PythonAnalysis.analyze(
                  rows.rows(), wanted.text("ordering"), like, wanted.counts("executors")));
    }
  }

  @Override
  public StructType transformSchema(StructType schema) {
    return Parcels.SCHEMA;
  }

  @Override
  public ArrayProblem copy(ParamMap extra) {
    return this.<ArrayProblem>defaultCopy(extra);
  }
}
