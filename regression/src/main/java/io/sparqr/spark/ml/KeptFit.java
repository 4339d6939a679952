/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.inference.Inference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The rows of a fit and, once computed, their factorization, which live on the cluster. */
final class KeptFit implements AutoCloseable {

  private final TrainingRows rows;
  private @Nullable QRFactorization factorization;
  private boolean closed;

  KeptFit(TrainingRows rows) {
    this.rows = rows;
  }

  TrainingRows rows() {
    return rows;
  }

  /** Takes ownership of the factorization. */
  QRFactorization made(QRFactorization of) {
    factorization = of;
    return of;
  }

  Inference inference() {
    if (closed) {
      throw new IllegalStateException("this regression is closed");
    }
    return Inference.of(Objects.requireNonNull(factorization), rows.rdd());
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (factorization != null) {
      factorization.close();
    }
    rows.close();
  }
}
