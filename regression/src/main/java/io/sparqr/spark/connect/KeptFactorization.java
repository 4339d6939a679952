/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.arrays.ArrayLabels;
import io.sparqr.spark.arrays.ArrayRows;
import io.sparqr.spark.arrays.SentArrays;
import io.sparqr.spark.python.Parcels;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.IOException;
import org.apache.spark.sql.Dataset;

/**
 * A factorization with the rows that it was made of, for the calls of a client of Spark Connect, one
 * at a time. If no one closes it, its files and what Spark keeps for it go with the garbage.
 */
final class KeptFactorization implements AutoCloseable {

  private final SentArrays sent;
  private final ArrayRows rows;
  private final QRFactorization factorization;

  private KeptFactorization(SentArrays sent, ArrayRows rows, QRFactorization factorization) {
    this.sent = sent;
    this.rows = rows;
    this.factorization = factorization;
  }

  /** Factorizes the matrix of a table of pieces. */
  static KeptFactorization of(Dataset<?> pieces, GpuSparseQR.Builder builder, int partitions)
      throws IOException {
    SentArrays sent = SentArrays.receive(pieces);
    try {
      ArrayRows rows = sent.rows(Answers.MATRIX, partitions);
      return new KeptFactorization(sent, rows, builder.build().factorize(rows.rows()));
    } catch (RuntimeException | IOException e) {
      sent.close();
      throw e;
    }
  }

  /**
   * What a client asks for.
   *
   * @param work "state", "solve", "further" (pieces: other right-hand sides), "relabeled" (pieces: A
   *     with other ones), "predict" (pieces: new rows), "unscaled", "r" or "close"
   * @throws IllegalArgumentException for any other, and as the factorization does
   * @throws IllegalStateException after "close"
   */
  synchronized Parcels answer(String work, Words wanted, Dataset<?> pieces) throws IOException {
    return switch (work) {
      case "state" -> state();
      case "solve" -> solution(factorization.solve(), wanted);
      case "further" -> further(pieces, wanted);
      case "relabeled" -> relabeled(pieces, wanted);
      case "predict" -> predictions(pieces);
      case "unscaled" -> new Parcels().numbers("unscaled", factorization.unscaledErrors());
      case "r" -> factor();
      case "close" -> {
        close();
        yield new Parcels();
      }
      default -> throw new IllegalArgumentException("no work " + work);
    };
  }

  private Parcels state() {
    Parcels found =
        Answers.report(factorization.summary())
            .text("rank", Integer.toString(factorization.rank()))
            .integers("dead", factorization.deadColumns(), factorization.deadColumns().length);
    Answers.permutation(found, factorization);
    return found;
  }

  private Parcels solution(LeastSquaresSolution found, Words wanted) {
    Parcels parcels = Answers.solution(found, found.report());
    Answers.permutation(parcels, factorization);
    return wanted.yes("standardErrors")
        ? parcels.numbers("unscaled", factorization.unscaledErrors())
        : parcels;
  }

  private Parcels further(Dataset<?> pieces, Words wanted) throws IOException {
    try (SentArrays other = SentArrays.receive(pieces);
        ArrayLabels labels = other.labels(Answers.LABELS, rows)) {
      return solution(factorization.solve(labels.labels()), wanted);
    }
  }

  private Parcels relabeled(Dataset<?> pieces, Words wanted) throws IOException {
    try (SentArrays other = SentArrays.receive(pieces)) {
      ArrayRows again = other.rows(Answers.MATRIX, 0);
      return solution(factorization.solveRelabeled(again.rows()), wanted);
    }
  }

  private Parcels predictions(Dataset<?> pieces) throws IOException {
    try (SentArrays other = SentArrays.receive(pieces)) {
      var parcels = new Parcels();
      Answers.predictions(parcels, factorization, other);
      return parcels;
    }
  }

  private Parcels factor() {
    var parcels = new Parcels();
    Answers.factor(parcels, factorization.collectR());
    return parcels;
  }

  /** Releases R, Q and the rows; idempotent. */
  @Override
  public synchronized void close() {
    try {
      factorization.close();
    } finally {
      sent.close();
    }
  }
}
