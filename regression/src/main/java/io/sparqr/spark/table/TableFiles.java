/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.spark.file.Compression;
import io.sparqr.spark.file.FileTasks;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.util.SerializableConfiguration;

/** The files of a table on a Hadoop file system: listed by the driver, opened by the executors. */
final class TableFiles implements Serializable {

  private static final long serialVersionUID = 1;

  private final String name;
  private final Broadcast<SerializableConfiguration> configuration;
  private final List<OneFile> files;

  /**
   * A file.
   *
   * @param name for messages
   * @param path for Hadoop
   * @param length in bytes
   * @param compressed whether it cannot be cut
   */
  record OneFile(String name, String path, long length, boolean compressed)
      implements Serializable {}

  /**
   * Lists the files.
   *
   * @param name for messages
   * @param path a file, a folder whose files (but no hidden ones) are meant, or else a pattern
   * @throws NoSuchFileException if there is none
   * @throws MatrixFormatException if a folder has folders in it
   */
  TableFiles(JavaSparkContext context, String name, String path) throws IOException {
    this.name = name;
    this.configuration =
        context.broadcast(new SerializableConfiguration(context.hadoopConfiguration()));
    this.files = new ArrayList<>();
    Path root = new Path(path);
    FileSystem system = root.getFileSystem(context.hadoopConfiguration());
    for (FileStatus found : matching(system, root)) {
      if (!found.isDirectory()) {
        add(found, system.getFileStatus(found.getPath()).getPath().equals(root));
        continue;
      }
      FileStatus[] parts = system.listStatus(found.getPath());
      Arrays.sort(parts, Comparator.comparing(f -> f.getPath().getName()));
      for (FileStatus part : parts) {
        String own = part.getPath().getName();
        if (own.startsWith("_") || own.startsWith(".")) {
          continue;
        }
        if (part.isDirectory()) {
          throw new MatrixFormatException(
              name + ": has a folder in it, " + own + "; only a folder of files is read", name, -1);
        }
        add(part, false);
      }
    }
    if (files.isEmpty()) {
      throw new MatrixFormatException(name + ": a folder without files", name, -1);
    }
  }

  private List<FileStatus> matching(FileSystem system, Path root) throws IOException {
    try {
      return List.of(system.getFileStatus(root));
    } catch (FileNotFoundException e) {
      FileStatus[] matches = system.globStatus(root);
      if (matches == null || matches.length == 0) {
        throw new NoSuchFileException(name);
      }
      Arrays.sort(matches, Comparator.comparing(f -> f.getPath().toString()));
      return List.of(matches);
    }
  }

  private void add(FileStatus status, boolean only) throws IOException {
    String path = status.getPath().toString();
    String shown = only ? name : name + " (" + status.getPath().getName() + ")";
    boolean compressed;
    try (InputStream in = fileSystem(path).open(status.getPath())) {
      compressed = Compression.of(in.readNBytes(16)) != Compression.NONE;
    }
    files.add(new OneFile(shown, path, status.getLen(), compressed));
  }

  /** The name of the table for messages. */
  String name() {
    return name;
  }

  int count() {
    return files.size();
  }

  OneFile file(int k) {
    return files.get(k);
  }

  private FileSystem fileSystem(String path) throws IOException {
    return new Path(path).getFileSystem(configuration.value().value());
  }

  /** The content of a whole file, decompressed; closed at the end of a task if not earlier. */
  InputStream open(int k) throws IOException {
    OneFile f = files.get(k);
    return FileTasks.closedWithTask(
        Compression.open(fileSystem(f.path).open(new Path(f.path)), f.name));
  }

  /** The bytes of a file that is not compressed, from an offset on. */
  InputStream open(int k, long at) throws IOException {
    OneFile f = files.get(k);
    var in = fileSystem(f.path).open(new Path(f.path));
    in.seek(at);
    return FileTasks.closedWithTask(in);
  }

  /** Hosts that store the bytes of a file from an offset on. */
  List<String> hosts(int k, long at, long length) throws IOException {
    OneFile f = files.get(k);
    FileSystem system = fileSystem(f.path);
    return FileTasks.hosts(system, system.getFileStatus(new Path(f.path)), at, length);
  }
}
