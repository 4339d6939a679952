/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.python.Parcels;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * A factorization on a server of Spark Connect, as a model that answers in {@link Parcels}; made by
 * {@link FactorizeArrays}. A server from 4.1 on writes models to its disk, and takes them out of
 * memory when they were not asked for in a while: this one then is without its factorization, whose
 * parts lie on the executors.
 */
public final class FactorizedArrays extends Model<FactorizedArrays> implements MLWritable {

  private static final long serialVersionUID = 1;

  private final String uid;
  private final Param<String> work;
  private final StringArrayParam words;
  private final transient @Nullable KeptFactorization kept;

  /** A model without a factorization, for service loaders that only need the name of a class. */
  public FactorizedArrays() {
    this("", null);
  }

  FactorizedArrays(String uid, @Nullable KeptFactorization kept) {
    this.uid = uid;
    this.kept = kept;
    work = new Param<>(uid, "work", "what is asked for");
    words = new StringArrayParam(this, "words", "what else is wanted, each as name=value");
    setDefault(work, "state");
    setDefault(words, new String[0]);
  }

  @Override
  public String uid() {
    return uid;
  }

  /**
   * "state" (default): rank, dead columns, order, report; "solve", "further", "relabeled", "refit",
   * "append", "predict", "unscaled", "leverages", "criteria", "r", "q", "applyQ", "qTransposed",
   * "save"; "close" releases the factorization.
   */
  public Param<String> work() {
    return work;
  }

  /**
   * What else is wanted, each as name=value: of, the number of one made by "append";
   * standardErrors, columns, probes, folder, overwrite; default none.
   */
  public StringArrayParam words() {
    return words;
  }

  /**
   * Answers, once, in the thread of the call.
   *
   * @throws IllegalStateException if the server has let the factorization go, or after "close"
   */
  @Override
  public Dataset<Row> transform(Dataset<?> pieces) {
    if (kept == null) {
      throw new IllegalStateException("the server has let this factorization go");
    }
    try {
      var wanted = new Words(getOrDefault(words));
      return kept.answer(getOrDefault(work), wanted, pieces).table(pieces.sparkSession());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public StructType transformSchema(StructType schema) {
    return Parcels.SCHEMA;
  }

  @Override
  public FactorizedArrays copy(ParamMap extra) {
    return copyValues(new FactorizedArrays(uid, kept), extra).setParent(parent());
  }

  /** Size in bytes for Spark 4.1's memory control: R and Q are not in the model. */
  public long estimatedSize() {
    return 1024;
  }

  @Override
  public MLWriter write() {
    return new Writer();
  }

  /** Shortcut for {@code write().save(path)}, which is refused. */
  @Override
  public void save(String path) throws IOException {
    write().save(path);
  }

  /** Reads what a server has written of a factorization that it let go: nothing. */
  public static MLReader<FactorizedArrays> read() {
    return new Reader();
  }

  private static final class Writer extends MLWriter {
    /** As a server of Spark Connect 4.1 does with every model; Spark 4.0 has no such method. */
    @SuppressWarnings("UnusedMethod") // Spark 4.1 calls it
    public void saveToLocal(String path) throws IOException {
      Files.createDirectories(Path.of(path));
    }

    @Override
    public void saveImpl(String path) {
      throw new UnsupportedOperationException("a factorization is not saved as a model");
    }
  }

  private static final class Reader extends MLReader<FactorizedArrays> {
    @Override
    public FactorizedArrays load(String path) {
      return new FactorizedArrays();
    }
  }
}
