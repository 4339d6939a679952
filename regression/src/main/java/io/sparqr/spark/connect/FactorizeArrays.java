/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.arrays.SentArrays;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.types.StructType;

/**
 * What {@code factorize} in Python does over Spark Connect, as an estimator of the arrays of A,
 * which {@link SentArrays} describes: the server keeps its model, and with it the factorization.
 */
public final class FactorizeArrays extends Estimator<FactorizedArrays> {

  private static final long serialVersionUID = 1;

  private final String uid;
  private final StringArrayParam options;
  private final StringArrayParam words;

  /** An instance with a random uid. */
  public FactorizeArrays() {
    this("sparqrFactorize_" + UUID.randomUUID().toString().substring(24));
  }

  /** An instance with a given uid. */
  public FactorizeArrays(String uid) {
    this.uid = uid;
    options =
        new StringArrayParam(this, "options", "options of GpuSparseQR.Builder, each as name=value");
    words = new StringArrayParam(this, "words", "what else is wanted, each as name=value");
    setDefault(options, new String[0]);
    setDefault(words, new String[0]);
  }

  @Override
  public String uid() {
    return uid;
  }

  /** Options of the solver, each as name=value; default none. */
  public StringArrayParam options() {
    return options;
  }

  /**
   * What else is wanted, each as name=value: partitions, keepQ; or load, the folder of a saved
   * factorization that is to be the model's; default none.
   */
  public StringArrayParam words() {
    return words;
  }

  /**
   * Factorizes.
   *
   * @throws IllegalArgumentException for an unknown option or an invalid value; other errors as in
   *     {@link io.sparqr.spark.SparseQRSolver#factorize(Dataset)}
   */
  @Override
  public FactorizedArrays fit(Dataset<?> pieces) {
    var wanted = new Words(getOrDefault(words));
    try {
      var kept = new KeptFactorization(pieces, List.of(getOrDefault(options)), wanted);
      return new FactorizedArrays(uid, kept);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public StructType transformSchema(StructType schema) {
    return schema;
  }

  @Override
  public FactorizeArrays copy(ParamMap extra) {
    return this.<FactorizeArrays>defaultCopy(extra);
  }
}
