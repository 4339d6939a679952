/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.error.DiskFullException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file of a factorization that is being saved. A full disk is that of the folder, which is
 * nothing that Spark's settings name: the error says so.
 */
final class SavedFile extends FilterOutputStream {

  private static final String NO_SPACE = "No space left on device";

  private final Path path;

  private SavedFile(FileSystem files, Path path) throws IOException {
    super(files.create(path, false));
    this.path = path;
  }

  /** Creates a file that does not exist yet. */
  static SavedFile create(FileSystem files, Path path) throws IOException {
    try {
      return new SavedFile(files, path);
    } catch (IOException | FSError e) {
      throw translated(path, e);
    }
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    try {
      out.write(bytes, from, count);
    } catch (IOException | FSError e) {
      throw translated(path, e);
    }
  }

  @Override
  public void flush() throws IOException {
    try {
      out.flush();
    } catch (IOException | FSError e) {
      throw translated(path, e);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      out.close();
    } catch (IOException | FSError e) {
      throw translated(path, e);
    }
  }

  /** Our own error if the disk is full; Hadoop's local files throw an Error then. */
  private static IOException translated(Path path, Throwable e) {
    boolean full =
        Stream.iterate(e, t -> t != null, Throwable::getCause)
            .anyMatch(t -> String.valueOf(t.getMessage()).contains(NO_SPACE));
    if (full) {
      String folder = String.valueOf(path.getParent());
      throw new DiskFullException(
          "no space left on device in " + folder + ", where the factorization is saved",
          folder,
          -1,
          e);
    }
    return e instanceof IOException io ? io : new IOException(path + ": " + e.getMessage(), e);
  }
}
