/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.matrix.Matlab;
import io.sparqr.matrix.Numpy;
import io.sparqr.matrix.RutherfordBoeing;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.file.Compression;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
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
 * Files may be compressed by gzip, bzip2, xz or zstd.
 */
public enum MatrixFormat {
  /** A specification of the gallery. */
  GALLERY,
  /** Matrix Market; {@link Reader} decides between driver and executors. */
  MATRIX_MARKET,
  /** libsvm; {@link Reader} decides between driver and executors. */
  LIBSVM,
  /** Parquet with columns row, column, value, read by the executors. */
  PARQUET,
  /** CSV with columns row, column, value, read by the executors. */
  CSV,
  /** NumPy's .npy and .npz, read by the driver. */
  NUMPY,
  /** MATLAB's .mat, read by the driver. */
  MATLAB,
  /** Rutherford-Boeing and Harwell-Boeing, read by the driver. */
  RUTHERFORD_BOEING;

  /** Bytes of a file that show its format. */
  static final int HEAD = 4096;

  /** UTF-8's byte order mark, as ISO 8859-1 shows it. */
  private static final String MARK = "\u00ef\u00bb\u00bf";

  private static final Pattern COMPRESSED = Pattern.compile("\\.(gz|bz2|xz|zst)$");

  private static final Pattern BOEING = Pattern.compile(".*\\.(rb|hb|[rpi][surz][ae])");

  /** A line of a libsvm file that has an index. */
  private static final Pattern LIBSVM_LINE =
      Pattern.compile("[-+.\\deE]+(\\s+qid:\\d+)?(\\s+\\d+:[-+.\\deE]+)+\\s*(#.*)?");

  /** Characters of Hadoop's patterns of names. */
  private static final Pattern WILD = Pattern.compile("[\\[\\]{}*?\\\\,]");

  /**
   * The format of a name.
   *
   * @throws UsageException if it cannot be recognized
   * @throws NoSuchFileException if there is no such file
   */
  public static MatrixFormat of(String name) throws IOException {
    if (Gallery.isSpec(name)) {
      return GALLERY;
    }
    if (!exists(name)) {
      throw new NoSuchFileException(name);
    }
    Optional<MatrixFormat> named = ofName(name);
    if (named.isPresent()) {
      return named.get();
    }
    if (isFolder(name)) {
      return ofParts(name);
    }
    return ofContent(head(name))
        .orElseThrow(
            () ->
                new UsageException(
                    name
                        + ": the format is not clear; names end in .mtx, .svm, .libsvm, .parquet,"
                        + " .csv, .npz, .npy, .mat or .rb"));
  }

  private static Optional<MatrixFormat> ofName(String name) throws IOException {
    String lower = name.toLowerCase(Locale.ROOT).replaceAll("/+$", "");
    lower = COMPRESSED.matcher(lower).replaceFirst("");
    if (lower.endsWith(".parquet")) {
      return Optional.of(PARQUET);
    }
    if (lower.endsWith(".csv")) {
      return Optional.of(CSV);
    }
    MatrixFormat format = null;
    if (lower.endsWith(".mtx") || lower.endsWith(".mm")) {
      format = MATRIX_MARKET;
    } else if (lower.matches(".*\\.(svm|libsvm|svmlight)")) {
      format = LIBSVM;
    } else if (lower.endsWith(".npy") || lower.endsWith(".npz")) {
      format = NUMPY;
    } else if (lower.endsWith(".mat")) {
      format = MATLAB;
    } else if (BOEING.matcher(lower).matches()) {
      format = RUTHERFORD_BOEING;
    }
    if (format != null) {
      requireFile(name);
    }
    return Optional.ofNullable(format);
  }

  /** Whether the name says Matrix Market. */
  static boolean isMatrixMarket(String name) {
    String lower = COMPRESSED.matcher(name.toLowerCase(Locale.ROOT)).replaceFirst("");
    return lower.endsWith(".mtx") || lower.endsWith(".mm");
  }

  /**
   * The format of a file that begins with these bytes, uncompressed; empty if it is not clear.
   *
   * @param head {@link #HEAD} bytes, or the whole file if it is shorter
   */
  static Optional<MatrixFormat> ofContent(byte[] head) {
    if (Numpy.isArray(head) || Numpy.isArchive(head)) {
      return Optional.of(NUMPY);
    }
    if (Matlab.isMatlab(head)) {
      return Optional.of(MATLAB);
    }
    String text = new String(head, StandardCharsets.ISO_8859_1);
    text = text.startsWith(MARK) ? text.substring(MARK.length()) : text;
    if (text.startsWith("PAR1")) {
      return Optional.of(PARQUET);
    }
    if (text.startsWith("%%") || text.regionMatches(true, 0, "%MatrixMarket", 0, 13)) {
      return Optional.of(MATRIX_MARKET);
    }
    if (RutherfordBoeing.begins(text)) {
      return Optional.of(RUTHERFORD_BOEING);
    }
    List<String> lines =
        text.lines().map(String::strip).filter(l -> !l.isEmpty() && l.charAt(0) != '#').toList();
    if (!lines.isEmpty() && lines.get(0).indexOf(',') > 0) {
      return Optional.of(CSV);
    }
    // The last line may be cut off, and lines without an index may come before.
    return lines.stream().limit(100).anyMatch(l -> LIBSVM_LINE.matcher(l).matches())
        ? Optional.of(LIBSVM)
        : Optional.empty();
  }

  /**
   * Rejects a folder.
   *
   * @throws UsageException if it is a folder
   */
  public static void requireFile(String name) throws IOException {
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

  /** The first bytes of a file's content. */
  static byte[] head(String name) throws IOException {
    try (InputStream in = open(name)) {
      return in.readNBytes(HEAD);
    }
  }

  /** Whether the name is a URI for Hadoop's file systems (hdfs://, s3a://, file:///). */
  static boolean remote(String name) {
    return name.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");
  }

  /** The name in the form for Hadoop's file systems. */
  public static String uri(String name) {
    if (remote(name)) {
      return name;
    }
    try {
      // Not Path.toUri, because Hadoop would take its %20 literally.
      return "file:" + Piped.file(name).toAbsolutePath();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The name escaped for Spark's and Hadoop's readers, which expand patterns in names. */
  static String literal(String name) {
    return WILD.matcher(uri(name)).replaceAll("\\\\$0");
  }

  /** Whether the file or folder exists. */
  public static boolean exists(String name) throws IOException {
    if (!remote(name)) {
      return Piped.is(name) || Files.exists(java.nio.file.Path.of(name));
    }
    return fileSystem(name).exists(new Path(name));
  }

  /** Opens a file of the local or a remote file system: its content, if it is compressed. */
  static InputStream open(String name) throws IOException {
    InputStream raw = openRaw(name);
    boolean open = false;
    try {
      InputStream content = Compression.open(raw, name);
      open = true;
      return content;
    } finally {
      if (!open) {
        raw.close();
      }
    }
  }

  /** Opens a file without a look at its content. */
  static InputStream openRaw(String name) throws IOException {
    try {
      return remote(name)
          ? fileSystem(name).open(new Path(name))
          : Files.newInputStream(Piped.file(name));
    } catch (FileNotFoundException e) {
      throw new NoSuchFileException(name);
    }
  }

  /** Size of a file in bytes; 0 for a folder. */
  static long length(String name) throws IOException {
    if (!remote(name)) {
      var file = Piped.file(name);
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
