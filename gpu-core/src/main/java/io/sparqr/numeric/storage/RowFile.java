/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.storage;

import io.sparqr.error.DiskFullException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A temporary file of mapped slabs. It has no name from the start, so that nothing of it is left
 * when the process ends, in whatever way. Its blocks are written before they are mapped: on a full
 * disk that is an exception, whereas a first access to a hole would be a signal.
 */
final class RowFile {

  private static final int SMALLEST_PIECE = 1 << 20;

  /** Mappings of a process are limited in number. */
  private static final int LARGEST_PIECE = 1 << 26;

  private static final byte[] ZEROS = new byte[1 << 16];
  private static final String NO_SPACE = "No space left on device";

  private final Path folder;
  private final RandomAccessFile file;
  private final List<ByteBuffer> mapped = new ArrayList<>();
  private ByteBuffer piece = ByteBuffer.allocate(0);
  private long bytes;

  /** A new file in a folder. */
  RowFile(Path folder) {
    this.folder = folder;
    Path path = null;
    try {
      path = Files.createTempFile(folder, "sparqr-rows", ".tmp");
      file = new RandomAccessFile(path.toFile(), "rw");
    } catch (IOException e) {
      throw failed(e);
    } finally {
      delete(path);
    }
  }

  private static void delete(@Nullable Path path) {
    if (path != null) {
      try {
        Files.delete(path);
      } catch (IOException e) {
        path.toFile().deleteOnExit();
      }
    }
  }

  /** Size of the file in bytes, whether written or not. */
  long bytes() {
    return bytes;
  }

  /** A new part of the file, of that many bytes, all zero. */
  ByteBuffer map(int length) {
    if (piece.remaining() < length) {
      long grown = Math.min(LARGEST_PIECE, Math.max(SMALLEST_PIECE, bytes));
      piece = grow((int) Math.max(length, grown));
    }
    ByteBuffer slab = piece.slice(piece.position(), length);
    piece.position(piece.position() + length);
    return slab;
  }

  private ByteBuffer grow(int length) {
    try {
      // Not by the channel: that takes direct memory, of which there may be none left.
      file.seek(bytes);
      for (int left = length; left > 0; left -= ZEROS.length) {
        file.write(ZEROS, 0, Math.min(ZEROS.length, left));
      }
      ByteBuffer added = file.getChannel().map(FileChannel.MapMode.READ_WRITE, bytes, length);
      bytes += length;
      mapped.add(added);
      return added.duplicate();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private RuntimeException failed(IOException e) {
    if (String.valueOf(e.getMessage()).contains(NO_SPACE)) {
      return new DiskFullException(
          "no space left on device in "
              + folder
              + ": rows of R that do not fit into memory (sparqr.factor.memory) are written there",
          folder.toString(),
          -1,
          e);
    }
    return new UncheckedIOException("rows of R cannot be written to " + folder, e);
  }

  /** Unmaps and closes the file, and with that its blocks are free. */
  void free() {
    mapped.forEach(FreedBuffers::free);
    mapped.clear();
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
