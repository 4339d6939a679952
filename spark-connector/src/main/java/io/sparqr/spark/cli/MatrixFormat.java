/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.Gallery;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.util.VersionInfo;
import org.apache.spark.SparkConf;

/**
 * The format of {@code --matrix}, recognized by the ending of the name, or else by the first bytes.
 */
enum MatrixFormat {
  /** A specification of the gallery. */
  GALLERY,
  /** Matrix Market; {@link Reader} decides between driver and executors. */
  MATRIX_MARKET,
  /** libsvm; {@link Reader} decides between driver and executors. */
  LIBSVM,
  /** Parquet with columns row, column, value, read by the executors. */
  PARQUET,
  /** CSV with columns row, column, value, read by the executors. */
  CSV;

  private static final byte[] BANNER = {'%', '%'};

  /** UTF-8's byte order mark. */
  private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  /** Characters of Hadoop's patterns of names. */
  private static final Pattern WILD = Pattern.compile("[\\[\\]{}*?\\\\,]");

  /**
   * The format of a name.
   *
   * @throws UsageException if it cannot be recognized
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
      return oneFile(name, MATRIX_MARKET);
    }
    if (lower.endsWith(".svm") || lower.endsWith(".libsvm") || lower.endsWith(".svmlight")) {
      return oneFile(name, LIBSVM);
    }
    if (lower.endsWith(".parquet")) {
      return PARQUET;
    }
    if (lower.endsWith(".csv")) {
      return CSV;
    }
    if (isFolder(name)) {
      return ofParts(name);
    }
    if (hasBanner(name)) {
      return MATRIX_MARKET;
    }
    throw new UsageException(
        name + ": the format is not clear; names end in .mtx, .svm, .libsvm, .parquet or .csv");
  }

  private static MatrixFormat oneFile(String name, MatrixFormat format) throws IOException {
    requireFile(name);
    return format;
  }

  /**
   * Rejects a folder.
   *
   * @throws UsageException if it is a folder
   */
  static void requireFile(String name) throws IOException {
    if (isFolder(name)) {
      throw new UsageException(
          name + ": a folder, not a file (folders of .parquet or .csv parts are read)");
    }
  }

  /** The format of a folder, by the files that Spark wrote into it. */
  private static MatrixFormat ofParts(String name) throws IOException {
    boolean csv = false;
    for (String part : parts(name)) {
      String lower = part.toLowerCase(Locale.ROOT);
      if (lower.endsWith(".parquet")) {
        return PARQUET;
      }
      csv |= lower.endsWith(".csv") || lower.endsWith(".csv.gz");
    }
    if (csv) {
      return CSV;
    }
    throw new UsageException(
        name + ": the format is not clear: a folder without .parquet or .csv parts");
  }

  private static List<String> parts(String name) throws IOException {
    if (!remote(name)) {
      try (Stream<java.nio.file.Path> files = Files.list(java.nio.file.Path.of(name))) {
        return files.map(f -> f.getFileName().toString()).toList();
      }
    }
    return Arrays.stream(fileSystem(name).listStatus(new Path(name)))
        .map(f -> f.getPath().getName())
        .toList();
  }

  private static boolean isFolder(String name) throws IOException {
    return remote(name)
        ? fileSystem(name).getFileStatus(new Path(name)).isDirectory()
        : Files.isDirectory(java.nio.file.Path.of(name));
  }

  private static boolean hasBanner(String name) throws IOException {
    try (InputStream in = open(name)) {
      byte[] first = in.readNBytes(MARK.length + BANNER.length);
      boolean marked = Arrays.mismatch(first, MARK) == MARK.length;
      int at = marked ? MARK.length : 0;
      return Arrays.equals(
          Arrays.copyOfRange(first, at, Math.min(first.length, at + BANNER.length)), BANNER);
    }
  }

  /** Whether the name is a URI for Hadoop's file systems (hdfs://, s3a://, file:///). */
  static boolean remote(String name) {
    return name.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");
  }

  /** The name in the form for Hadoop's file systems. */
  static String uri(String name) {
    // Not Path.toUri, because Hadoop would take its %20 literally.
    return remote(name) ? name : "file:" + java.nio.file.Path.of(name).toAbsolutePath();
  }

  /** The name escaped for Spark's and Hadoop's readers, which expand patterns in names. */
  static String literal(String name) {
    return WILD.matcher(uri(name)).replaceAll("\\\\$0");
  }

  /** Whether the file or folder exists. */
  static boolean exists(String name) throws IOException {
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

  /** Size of a file in bytes; 0 for a folder. */
  static long length(String name) throws IOException {
    if (!remote(name)) {
      var file = java.nio.file.Path.of(name);
      return Files.isDirectory(file) ? 0 : Files.size(file);
    }
    return fileSystem(name).getFileStatus(new Path(name)).getLen();
  }

  /**
   * Spark's settings for Hadoop, which include credentials, apply even before there is a session.
   */
  private static FileSystem fileSystem(String name) throws IOException {
    Configuration configuration = new Configuration();
    String prefix = "spark.hadoop.";
    for (var setting : new SparkConf().getAllWithPrefix(prefix)) {
      configuration.set(setting._1(), setting._2());
    }
    String scheme = name.substring(0, name.indexOf(':'));
    try {
      return new Path(name).getFileSystem(configuration);
    } catch (UnsupportedFileSystemException e) {
      throw new UsageException(name + ": no file system of Hadoop's is called '" + scheme + ":'");
    } catch (RuntimeException e) {
      // Hadoop's configuration names the class, but it is in a separate jar.
      if (e.getCause() instanceof ClassNotFoundException missing) {
        throw new UsageException(missingJars(name, scheme, missing));
      }
      throw e;
    }
  }

  private static String missingJars(String name, String scheme, ClassNotFoundException missing) {
    String module =
        switch (scheme) {
          case "s3a" -> "hadoop-aws";
          case "abfs", "abfss", "wasb", "wasbs" -> "hadoop-azure";
          case "gs" -> "gcs-connector";
          default -> "the module of " + scheme + ":";
        };
    return name
        + ": "
        + missing.getMessage()
        + "; "
        + module
        + (module.startsWith("hadoop-") ? " " + VersionInfo.getVersion() : "")
        + " with what it needs is missing: bin/sparqr takes jars from SPARQR_CLASSPATH,"
        + " spark-submit by --packages";
  }
}
