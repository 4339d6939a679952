/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.MatrixFormatException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.util.SerializableConfiguration;

/** A file on a Hadoop file system: inspected by the driver, opened by the executors. */
final class InputFile implements Serializable {

  private static final long serialVersionUID = 1;

  private final String name;
  private final String path;
  private final Broadcast<SerializableConfiguration> configuration;
  private final long length;
  private final long blockBytes;

  /**
   * A part of the file.
   *
   * @param number index from 0, in file order
   * @param begin first byte
   * @param end last byte + 1
   */
  record Split(int number, long begin, long end) implements Serializable {}

  /**
   * Inspects a file.
   *
   * @param name the name for messages
   * @throws java.io.FileNotFoundException if it does not exist
   * @throws MatrixFormatException if it is a folder, or compressed, which cannot be split
   */
  InputFile(JavaSparkContext context, String name, String path) throws IOException {
    this.name = name;
    this.path = path;
    this.configuration =
        context.broadcast(new SerializableConfiguration(context.hadoopConfiguration()));
    FileStatus status = fileSystem().getFileStatus(new Path(path));
    if (status.isDirectory()) {
      throw new MatrixFormatException(name + ": a folder, not a file", name, -1);
    }
    this.length = status.getLen();
    this.blockBytes = status.getBlockSize();
    try (InputStream in = new BufferedInputStream(fileSystem().open(new Path(path)))) {
      Compression compression = Compression.of(in);
      if (compression != Compression.NONE) {
        throw new MatrixFormatException(
            name + ": a " + compression + " file cannot be split over the executors", name, -1);
      }
    }
  }

  private FileSystem fileSystem() throws IOException {
    return new Path(path).getFileSystem(configuration.value().value());
  }

  /** The name for messages. */
  String name() {
    return name;
  }

  /** Size in bytes. */
  long length() {
    return length;
  }

  /**
   * Opens the file at an offset; within a task, the stream is closed at the end of the task if not
   * earlier.
   */
  InputStream open(long at) throws IOException {
    FSDataInputStream in = FileTasks.closedWithTask(fileSystem().open(new Path(path)));
    if (at > 0) {
      in.seek(at);
    }
    return in;
  }

  /**
   * Cuts the bytes from begin on into parts of at most one block of the file system, and at least
   * atLeast parts if the file is long enough, within Hadoop's limits {@code
   * mapreduce.input.fileinputformat.split.minsize} and {@code .maxsize}.
   */
  List<Split> splits(long begin, int atLeast) {
    List<Split> splits = new ArrayList<>();
    var conf = configuration.value().value();
    String prefix = "mapreduce.input.fileinputformat.split.";
    long goal = (length - begin + atLeast - 1) / Math.max(1, atLeast);
    long bytes = Math.min(Math.min(goal, blockBytes), conf.getLong(prefix + "maxsize", goal));
    bytes = Math.max(1, Math.max(bytes, conf.getLong(prefix + "minsize", 1)));
    for (long at = begin; at < length; at += bytes) {
      splits.add(new Split(splits.size(), at, Math.min(length, at + bytes)));
    }
    return splits;
  }

  /** Splits as an RDD, one per partition, preferably on the hosts that store them. */
  JavaRDD<Split> distribute(JavaSparkContext context, List<Split> splits) throws IOException {
    FileSystem fs = fileSystem();
    FileStatus status = fs.getFileStatus(new Path(path));
    List<List<String>> hosts = new ArrayList<>(splits.size());
    for (Split s : splits) {
      hosts.add(FileTasks.hosts(fs, status, s.begin, Math.min(length, s.end) - s.begin));
    }
    return FileTasks.near(context, Split.class, splits, hosts);
  }
}
