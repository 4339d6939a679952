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
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.jspecify.annotations.Nullable;

/**
 * A factorization with the rows that it was made of, or a loaded one, and those that rows were
 * appended to: for the calls of a client of Spark Connect, one at a time. If no one closes them,
 * their files and what Spark keeps for them go with the garbage.
 */
final class KeptFactorization implements AutoCloseable {

  private final List<String> options;
  private final Words fitted;

  /** By their numbers: the first one, then those made by appending. */
  private final List<Made> all = new ArrayList<>();

  /** Why there is none. */
  private final @Nullable String missing;

  /**
   * A factorization and what it was made of.
   *
   * @param sent null if it was loaded
   * @param rows to align numbers with; null if it was loaded, or rows were appended
   */
  private record Made(
      @Nullable SentArrays sent, @Nullable ArrayRows rows, QRFactorization factorization) {

    ArrayRows aligned() {
      if (rows == null) {
        throw new IllegalStateException(
            "this factorization has no rows to align numbers with, since it was loaded or appended to");
      }
      return rows;
    }

    void close() {
      try {
        factorization.close();
      } finally {
        if (sent != null) {
          sent.close();
        }
      }
    }
  }

  /**
   * Factorizes the matrix of a table of pieces, or loads a factorization.
   *
   * @param pieces any table, if it is loaded
   * @param options of the solver, each as name=value
   * @param wanted partitions, keepQ; or load, the folder
   */
  KeptFactorization(Dataset<?> pieces, List<String> options, Words wanted) throws IOException {
    this.options = options;
    this.fitted = wanted;
    String folder = wanted.text("load");
    String why = null;
    if (folder.isEmpty()) {
      all.add(made(pieces, PythonSupport.builder(options)));
    } else {
      try {
        all.add(new Made(null, null, GpuSparseQR.load(context(pieces), folder)));
      } catch (FileNotFoundException e) {
        // an answer, as in saved
        why = String.valueOf(e.getMessage());
      }
    }
    this.missing = why;
  }

  private static JavaSparkContext context(Dataset<?> pieces) {
    return JavaSparkContext.fromSparkContext(pieces.sparkSession().sparkContext());
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
   *     A with other ones), "refit" (pieces: another A), "append" (pieces: further rows; the answer
   *     is the new one's number and columns), "predict" (pieces: new rows), "unscaled",
   *     "leverages", "criteria", "r", "q", "applyQ" and "qTransposed" (pieces: vectors), "save" or
   *     "close"
   * @param wanted "of" is the number of the factorization that is asked, the first one's 0
   * @throws IllegalArgumentException for any other, and as the factorization does
   * @throws IllegalStateException after "close"
   */
  synchronized Parcels answer(String work, Words wanted, Dataset<?> pieces) throws IOException {
    if (missing != null) {
      return new Parcels().text("missing", missing);
    }
    int of = wanted.count("of");
    Made made = all.get(of);
    QRFactorization f = made.factorization();
    return switch (work) {
      case "state" -> state(f);
      case "solve" -> solution(f, f.solve(), wanted);
      case "further" -> aligned(made, pieces, labels -> solution(f, f.solve(labels), wanted));
      case "relabeled" -> relabeled(f, pieces, wanted);
      case "refit" -> refit(of, pieces);
      case "append" -> appended(f, pieces);
      case "predict" -> predictions(f, pieces);
      case "unscaled" -> new Parcels().numbers("unscaled", f.unscaledErrors());
      case "leverages" -> new Parcels().numbers("leverages", joined(f.leverages().collect()));
      case "criteria" ->
          new Parcels().text("criteria", f.criteria(wanted.count("probes")).toJson());
      case "r" -> factor(f);
      case "q" -> rows(f.q(wanted.counts("columns").stream().mapToInt(j -> j).toArray()));
      case "applyQ" -> rows(f.applyQ(vectors(pieces)));
      case "qTransposed" -> aligned(made, pieces, labels -> transposed(f.applyQTransposed(labels)));
      case "save" -> saved(f, wanted);
      case "close" -> {
        made.close();
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

  private static Parcels solution(QRFactorization f, LeastSquaresSolution found, Words wanted) {
    Parcels parcels = Answers.solution(found, found.report());
    Answers.permutation(parcels, f);
    return wanted.yes("standardErrors") ? parcels.numbers("unscaled", f.unscaledErrors()) : parcels;
  }

  /** What becomes of vectors of as many numbers as there are rows. */
  private static Parcels aligned(
      Made made, Dataset<?> pieces, Function<JavaRDD<double[]>, Parcels> work) throws IOException {
    ArrayRows rows = made.aligned();
    try (SentArrays other = SentArrays.receive(pieces);
        ArrayLabels labels = other.labels(Answers.LABELS, rows)) {
      return work.apply(labels.labels());
    }
  }

  private static Parcels relabeled(QRFactorization f, Dataset<?> pieces, Words wanted)
      throws IOException {
    try (SentArrays other = SentArrays.receive(pieces)) {
      ArrayRows again = other.rows(Answers.MATRIX, 0);
      return solution(f, f.solveRelabeled(again.rows()), wanted);
    }
  }

  private Parcels refit(int of, Dataset<?> pieces) throws IOException {
    Made before = all.get(of);
    var builder = PythonSupport.builder(options).analysis(before.factorization().analysis());
    all.set(of, made(pieces, builder));
    before.close();
    return new Parcels();
  }

  private Parcels appended(QRFactorization f, Dataset<?> pieces) throws IOException {
    SentArrays sent = SentArrays.receive(pieces);
    try {
      QRFactorization more = f.append(sent.rows(Answers.MATRIX, 0).rows());
      all.add(new Made(sent, null, more));
      return new Parcels()
          .text("number", Integer.toString(all.size() - 1))
          .text("columns", Integer.toString(more.analysis().columns()));
    } catch (RuntimeException | IOException e) {
      sent.close();
      throw e;
    }
  }

  private static Parcels predictions(QRFactorization f, Dataset<?> pieces) throws IOException {
    try (SentArrays other = SentArrays.receive(pieces)) {
      var parcels = new Parcels();
      Answers.predictions(parcels, f, other);
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

  /** Releases R, Q and the rows of all of them; idempotent. */
  @Override
  public synchronized void close() {
    all.forEach(Made::close);
  }
}
