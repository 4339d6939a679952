/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.arrays.ArrayLabels;
import io.sparqr.spark.arrays.ArrayRows;
import io.sparqr.spark.arrays.SentArrays;
import io.sparqr.spark.model.QTransposed;
import io.sparqr.spark.python.Parcels;
import io.sparqr.spark.python.PythonSupport;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;

/**
 * A factorization with the rows that it was made of, for the calls of a client of Spark Connect,
 * one at a time. If no one closes it, its files and what Spark keeps for it go with the garbage.
 */
final class KeptFactorization implements AutoCloseable {

  private final List<String> options;
  private final Words fitted;
  private Made made;

  /** A factorization and what it was made of. */
  private record Made(SentArrays sent, ArrayRows rows, QRFactorization factorization) {
    void close() {
      try {
        factorization.close();
      } finally {
        sent.close();
      }
    }
  }

  /**
   * Factorizes the matrix of a table of pieces.
   *
   * @param options of the solver, each as name=value
   * @param wanted partitions, keepQ
   */
  KeptFactorization(Dataset<?> pieces, List<String> options, Words wanted) throws IOException {
    this.options = options;
    this.fitted = wanted;
    this.made = made(pieces, PythonSupport.builder(options));
  }

  private Made made(Dataset<?> pieces, GpuSparseQR.Builder builder) throws IOException {
    SentArrays sent = SentArrays.receive(pieces);
    try {
      ArrayRows rows = sent.rows(Answers.MATRIX, fitted.count("partitions"));
      SparseQRSolver solver = builder.keepQ(fitted.yes("keepQ")).build();
      return new Made(sent, rows, solver.factorize(rows.rows()));
    } catch (RuntimeException | IOException e) {
      sent.close();
      throw e;
    }
  }

  /**
   * What a client asks for.
   *
   * @param work "state", "solve", "further" (pieces: other right-hand sides), "relabeled" (pieces:
   *     A with other ones), "refit" (pieces: another A), "predict" (pieces: new rows), "unscaled",
   *     "leverages", "criteria", "r", "q", "applyQ" and "qTransposed" (pieces: vectors), "save" or
   *     "close"
   * @throws IllegalArgumentException for any other, and as the factorization does
   * @throws IllegalStateException after "close"
   */
  synchronized Parcels answer(String work, Words wanted, Dataset<?> pieces) throws IOException {
    QRFactorization f = made.factorization();
    return switch (work) {
      case "state" -> state(f);
      case "solve" -> solution(f.solve(), wanted);
      case "further" -> aligned(pieces, labels -> solution(f.solve(labels), wanted));
      case "relabeled" -> relabeled(pieces, wanted);
      case "refit" -> refit(pieces);
      case "predict" -> predictions(pieces);
      case "unscaled" -> new Parcels().numbers("unscaled", f.unscaledErrors());
      case "leverages" -> new Parcels().numbers("leverages", joined(f.leverages().collect()));
      case "criteria" ->
          new Parcels().text("criteria", f.criteria(wanted.count("probes")).toJson());
      case "r" -> factor(f);
      case "q" -> rows(f.q(wanted.counts("columns").stream().mapToInt(j -> j).toArray()));
      case "applyQ" -> rows(f.applyQ(vectors(pieces)));
      case "qTransposed" -> aligned(pieces, labels -> transposed(f.applyQTransposed(labels)));
      case "save" -> saved(f, wanted);
      case "close" -> {
        close();
        yield new Parcels();
      }
      default -> throw new IllegalArgumentException("no work " + work);
    };
  }

  private static Parcels state(QRFactorization f) {
    Parcels found =
        Answers.report(f.summary())
            .text("rank", Integer.toString(f.rank()))
            .integers("dead", f.deadColumns(), f.deadColumns().length);
    Answers.permutation(found, f);
    return found;
  }

  private Parcels solution(LeastSquaresSolution found, Words wanted) {
    Parcels parcels = Answers.solution(found, found.report());
    Answers.permutation(parcels, made.factorization());
    return wanted.yes("standardErrors")
        ? parcels.numbers("unscaled", made.factorization().unscaledErrors())
        : parcels;
  }

  /** What becomes of vectors of as many numbers as there are rows. */
  private Parcels aligned(Dataset<?> pieces, Function<JavaRDD<double[]>, Parcels> work)
      throws IOException {
    try (SentArrays other = SentArrays.receive(pieces);
        ArrayLabels labels = other.labels(Answers.LABELS, made.rows())) {
      return work.apply(labels.labels());
    }
  }

  private Parcels relabeled(Dataset<?> pieces, Words wanted) throws IOException {
    try (SentArrays other = SentArrays.receive(pieces)) {
      ArrayRows again = other.rows(Answers.MATRIX, 0);
      return solution(made.factorization().solveRelabeled(again.rows()), wanted);
    }
  }

  private Parcels refit(Dataset<?> pieces) throws IOException {
    Made before = made;
    var builder = PythonSupport.builder(options).analysis(before.factorization().analysis());
    made = made(pieces, builder);
    before.close();
    return new Parcels();
  }

  private Parcels predictions(Dataset<?> pieces) throws IOException {
    try (SentArrays other = SentArrays.receive(pieces)) {
      var parcels = new Parcels();
      Answers.predictions(parcels, made.factorization(), other);
      return parcels;
    }
  }

  private static Parcels factor(QRFactorization f) {
    var parcels = new Parcels();
    Answers.factor(parcels, f.collectR());
    return parcels;
  }

  private static double[][] vectors(Dataset<?> pieces) throws IOException {
    try (SentArrays other = SentArrays.receive(pieces)) {
      return other.vectors(Answers.LABELS);
    }
  }

  /** Rows that Spark keeps until they are here. */
  private static Parcels rows(JavaRDD<double[]> rows) {
    try {
      return new Parcels().numbers("rows", joined(rows.collect()));
    } finally {
      rows.unpersist();
    }
  }

  private static double[] joined(List<double[]> parts) {
    return parts.stream().flatMapToDouble(Arrays::stream).toArray();
  }

  private static Parcels transposed(QTransposed found) {
    var parcels = new Parcels().numbers("rest", found.rest());
    for (int k = 0; k < found.rest().length; k++) {
      parcels.numbers("values" + k, found.values()[k]);
    }
    return parcels;
  }

  private static Parcels saved(QRFactorization f, Words wanted) throws IOException {
    try {
      f.save(wanted.text("folder"), wanted.yes("overwrite"));
      return new Parcels();
    } catch (FileAlreadyExistsException e) {
      // an answer, because a client is told the messages of errors, but not the classes of causes
      return new Parcels().text("exists", String.valueOf(e.getMessage()));
    }
  }

  /** Releases R, Q and the rows; idempotent. */
  @Override
  public synchronized void close() {
    made.close();
  }
}
