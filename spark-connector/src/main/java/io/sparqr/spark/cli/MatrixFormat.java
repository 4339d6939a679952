/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.Gallery;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;

/** What {@code --matrix} names, told by the name's ending, and by the first bytes if that fails. */
enum MatrixFormat {
  /** A specification of the gallery. */
  GALLERY,
  /** Matrix Market; {@link Reader} says who reads it. */
  MATRIX_MARKET,
  /** libsvm; {@link Reader} says who reads it. */
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
    if (!remote(name)
        && !Files.isDirectory(java.nio.file.Path.of(name))
        && hasBanner(java.nio.file.Path.of(name))) {
      return MATRIX_MARKET;
    }
    throw new UsageException(
        name + ": the format is not clear; names end in .mtx, .svm, .libsvm, .parquet or .csv");
  }

  private static boolean hasBanner(java.nio.file.Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return java.util.Arrays.equals(in.readNBytes(2), BANNER);
    }
  }

  /** Whether the name is a URI that Hadoop's file systems open (hdfs://, s3a://, file:///). */
  static boolean remote(String name) {
    return name.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");
  }

  /** The name as Hadoop's file systems take it. */
  static String uri(String name) {
    return remote(name) ? name : java.nio.file.Path.of(name).toUri().toString();
  }

  private static boolean exists(String name) throws IOException {
    if (!remote(name)) {
      return Files.exists(java.nio.file.Path.of(name));
    }
    return fileSystem(name).exists(new Path(name));
  }

  /** Opens a file of the local or a remote file system. */
  static InputStream open(String name) throws IOException {
    if (!remote(name)) {
      return Files.newInputStream(java.nio.file.Path.of(name));
    }
    try {
      return fileSystem(name).open(new Path(name));
    } catch (FileNotFoundException e) {
      throw new NoSuchFileException(name);
    }
  }

  /** Bytes of a file; of a folder: 0. */
  static long length(String name) throws IOException {
    if (!remote(name)) {
      var file = java.nio.file.Path.of(name);
      return Files.isDirectory(file) ? 0 : Files.size(file);
    }
    return fileSystem(name).getFileStatus(new Path(name)).getLen();
  }

  /** Spark's settings for Hadoop hold before there is a session: credentials are among them. */
  private static FileSystem fileSystem(String name) throws IOException {
    Configuration configuration = new Configuration();
    String prefix = "spark.hadoop.";
    for (var setting : new SparkConf().getAllWithPrefix(prefix)) {
      configuration.set(setting._1(), setting._2());
    }
    return new Path(name).getFileSystem(configuration);
  }
}
