/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.IndexBase;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.input.MatrixFormat;
import io.sparqr.spark.input.TripletRows;
import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.plan.SolveOption;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options shared by {@code solve}, {@code qr} and {@code analyze}. */
final class MatrixOptions {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--matrix",
      required = true,
      paramLabel = "FILE|gen:SPEC",
      description =
          "Matrix Market (.mtx), libsvm (.svm, .libsvm; its labels are b), NumPy (.npz, .npy), MATLAB"
              + " (.mat), Rutherford-Boeing (.rb), each also .gz, .bz2, .xz, .zst; Parquet or CSV of (row,"
              + " column, value), a file or a folder of parts; - or a pipe; or a problem of the gallery:"
              + " gen:cells2d500, gen:ch7-8-b3:rand, gen:onehot1000000x5000x500x50, ...")
  String matrix;

  @Option(
      names = "--index-base",
      paramLabel = "0|1",
      description =
          "where indices count from; a table (Parquet, CSV): default 0, and one that has no 0 in row"
              + " or column is refused until this is given; libsvm: default 1, or 0 if there is a 0")
  @Nullable Integer indexBase;

  @Option(
      names = "--variable",
      paramLabel = "NAME",
      description =
          "the matrix of a MATLAB file, such as Problem.A; default: the only sparse one, or A")
  private @Nullable String variable;

  @Option(names = "--transpose", description = "take A' instead of A")
  boolean transpose;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description = "Spark master; default: what spark-submit says, otherwise local[*]")
  @Nullable String master;

  @Option(names = "--verbose", description = "every step as it happens; stack traces with errors")
  boolean verbose;

  /**
   * The format of the matrix.
   *
   * @throws UsageException if it cannot be recognized, or does not fit the other options
   */
  MatrixFormat format() throws IOException {
    MatrixFormat format = MatrixFormat.of(matrix);
    boolean table = format == MatrixFormat.PARQUET || format == MatrixFormat.CSV;
    if (indexBase != null && !table && format != MatrixFormat.LIBSVM) {
      throw new UsageException(
          "--index-base is for tables (.parquet, .csv) and libsvm files; a Matrix Market file counts"
              + " from 1, and other formats say by themselves");
    }
    if (variable != null && format != MatrixFormat.MATLAB) {
      throw new UsageException("--variable is for MATLAB files (.mat)");
    }
    return format;
  }

  /** Workers that the tree is cut for; 0: the cluster's executors. */
  int executors() {
    return OptionFlags.given(command, SolveOption.EXECUTORS).orElse(0);
  }

  /** Partitions of the rows; 0: the cluster's cores. */
  int partitions() {
    return OptionFlags.given(command, SolveOption.PARTITIONS).orElse(0);
  }

  /** The base of a libsvm file's indices. */
  IndexBase base() {
    return IndexBase.of(indexBase);
  }

  /** The matrix as a file for the driver. */
  LocalProblem.Source source(MatrixFormat format) {
    return new LocalProblem.Source(matrix, format, base(), variable);
  }

  /** The table described by the options. */
  TripletRows.Table table(MatrixFormat format) {
    return new TripletRows.Table(matrix, format, indexBase);
  }

  /** Rejects numbers out of range. */
  void check() {
    if (indexBase != null && indexBase != 0 && indexBase != 1) {
      throw new UsageException("--index-base " + indexBase + ": 0 or 1");
    }
    OptionFlags.check(command);
    if (master != null && !master.matches("(local(\\[.*\\]|-cluster\\[.*\\])?|yarn|\\w+://.*)")) {
      throw new UsageException(
          "'" + master + "' is not a Spark master (local[*], yarn, spark://...)");
    }
  }
}
