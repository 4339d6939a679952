/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.Gallery;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;

/** What {@code --matrix} names, told by the name's ending, and by the first bytes if that fails. */
enum MatrixFormat {
  /** A specification of the gallery. */
  GALLERY,
  /** Matrix Market, read by the driver. */
  MATRIX_MARKET,
  /** libsvm, read by the driver. */
  LIBSVM,
  /** Parquet with columns row, column, value, read by the executors. */
  PARQUET,
  /** CSV with columns row, column, value, read by the executors. */
  CSV;

  private static final byte[] BANNER = {'%', '%'};

  /**
   * The format of a name.
   *
   * @throws UsageException if nothing tells it
   * @throws NoSuchFileException if there is no such file
   */
  static MatrixFormat of(String name) throws IOException {
    if (Gallery.isSpec(name)) {
      return GALLERY;
    }
    if (!exists(name)) {
      throw new NoSuchFileException(name);
    }
    String lower = name.toLowerCase(Locale.ROOT).replaceAll("/+$", "").replaceAll("\\.gz$", "");
    if (lower.endsWith(".mtx") || lower.endsWith(".mm")) {
      return MATRIX_MARKET;
    }
    if (lower.endsWith(".svm") || lower.endsWith(".libsvm") || lower.endsWith(".svmlight")) {
      return LIBSVM;
    }
    if (lower.endsWith(".parquet")) {
      return PARQUET;
    }
    if (lower.endsWith(".csv")) {
      return CSV;
    }
    if (!remote(name) && !Files.isDirectory(Path.of(name)) && hasBanner(Path.of(name))) {
      return MATRIX_MARKET;
    }
    throw new UsageException(
        name + ": the format is not clear; names end in .mtx, .svm, .libsvm, .parquet or .csv");
  }

  private static boolean hasBanner(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return java.util.Arrays.equals(in.readNBytes(2), BANNER);
    }
  }

  /** Whether the name is a URI that Hadoop's file systems open (hdfs://, s3a://, file:///). */
  static boolean remote(String name) {
    return name.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");
  }

  private static boolean exists(String name) throws IOException {
    if (!remote(name)) {
      return Files.exists(Path.of(name));
    }
    var path = new org.apache.hadoop.fs.Path(name);
    return path.getFileSystem(new Configuration()).exists(path);
  }

  /** Opens a file of the local or a remote file system. */
  static InputStream open(String name) throws IOException {
    if (!remote(name)) {
      return Files.newInputStream(Path.of(name));
    }
    var path = new org.apache.hadoop.fs.Path(name);
    return path.getFileSystem(new Configuration()).open(path);
  }
}
