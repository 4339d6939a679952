/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.UUID;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * A file with the data of a task for later solves, its report and its chunks of R:
 *
 * <pre>
 * 8 bytes  "SPARQR-R"
 * int      version
 * 36 bytes id of the factorization
 * int      length, the TASK frame; then int length and a FACTOR frame, repeated
 * </pre>
 *
 * Numbers are big-endian; each frame has its own checksum.
 *
 * @param name of the file in its folder
 * @param frames number of frames
 * @param bytes size of the file
 * @param checksum CRC32C of the file
 */
record StoredPart(String name, int frames, long bytes, long checksum) implements Serializable {

  /** Version of the files and of the head; other versions are rejected. */
  static final int VERSION = 7;

  private static final byte[] MAGIC = "SPARQR-R".getBytes(StandardCharsets.US_ASCII);

  /** The record as a frame. */
  byte[] encode() {
    return ObjectCodec.encode(this);
  }

  /** The inverse of {@link #encode}. */
  static StoredPart decode(byte[] frame) {
    return ObjectCodec.decode(frame, StoredPart.class);
  }

  /** Writes those of a task's frames that are kept, under a name unique to this attempt. */
  static Iterator<byte[]> write(
      Configuration conf, String folder, String id, int level, int p, Iterator<byte[]> frames)
      throws IOException {
    String name = "%d-%05d-%s".formatted(level, p, UUID.randomUUID());
    Path path = new Path(folder, name);
    FileSystem files = path.getFileSystem(conf);
    var sum = new CRC32C();
    int count = 0;
    long bytes;
    try (var out =
        new DataOutputStream(new CheckedOutputStream(SavedFile.create(files, path), sum))) {
      out.write(MAGIC);
      out.writeInt(VERSION);
      out.writeBytes(id);
      long written = MAGIC.length + 4L + id.length();
      while (frames.hasNext()) {
        byte[] frame = frames.next();
        Frame.Kind kind = Frame.kind(frame);
        if (kind == Frame.Kind.TASK || kind == Frame.Kind.FACTOR) {
          out.writeInt(frame.length);
          out.write(frame);
          written += 4L + frame.length;
          count++;
        }
      }
      bytes = written;
    }
    return List.of(new StoredPart(name, count, bytes, sum.getValue()).encode()).iterator();
  }

  /**
   * Reads the chunks one after the other; returns the last one only after verifying the whole file.
   *
   * @throws WireFormatException if the file differs from the written one
   */
  Iterator<byte[]> read(Configuration conf, String folder, String id) throws IOException {
    Path path = new Path(folder, name);
    FileSystem files = path.getFileSystem(conf);
    long there;
    try {
      there = files.getFileStatus(path).getLen();
    } catch (FileNotFoundException e) {
      throw bad(path, "is not there", "file");
    }
    if (there != bytes) {
      throw bad(path, "has %,d bytes where %,d were saved".formatted(there, bytes), "length");
    }
    var sum = new CRC32C();
    var in = new DataInputStream(new CheckedInputStream(files.open(path), sum));
    if (TaskContext.get() != null) {
      TaskContext.get().addTaskCompletionListener((TaskCompletionListener) task -> close(in));
    }
    byte[] head = in.readNBytes(MAGIC.length + 4 + id.length());
    var version = java.nio.ByteBuffer.wrap(head, MAGIC.length, 4).getInt();
    if (version != VERSION) {
      throw bad(path, "is of version " + version + ", not " + VERSION, "version");
    }
    if (!new String(head, StandardCharsets.US_ASCII).endsWith(id)) {
      throw bad(path, "is of another factorization", "id");
    }
    return new Frames(path, in, sum);
  }

  private static void close(DataInputStream in) {
    try {
      in.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static WireFormatException bad(Path path, String what, String field) {
    return new WireFormatException(path + " " + what, field);
  }

  private final class Frames implements Iterator<byte[]> {
    private final Path path;
    private final DataInputStream in;
    private final CRC32C sum;
    private long left;
    private int taken;

    Frames(Path path, DataInputStream in, CRC32C sum) {
      this.path = path;
      this.in = in;
      this.sum = sum;
      this.left = bytes - MAGIC.length - 4 - 36;
    }

    @Override
    public boolean hasNext() {
      return taken < frames;
    }

    @Override
    public byte[] next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      try {
        int length = in.readInt();
        if (length < Frame.HEADER || length > left - 4) {
          throw bad(path, "is damaged: a chunk of " + length + " bytes", "length");
        }
        byte[] frame = new byte[length];
        in.readFully(frame);
        left -= 4L + length;
        if (++taken == frames) {
          requireSame();
        }
        return frame;
      } catch (EOFException e) {
        throw bad(path, "is truncated", "length");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void requireSame() {
      if (left != 0 || sum.getValue() != checksum) {
        throw bad(path, "is damaged: its checksum is not the one that was saved", "checksum");
      }
    }
  }
}
