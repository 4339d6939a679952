/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.storage;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slabs of one store. They are counted in the budget from when they are made until they are
 * freed, or until the collector finds the store unreachable.
 */
final class Slabs {

  private final RowBudget budget;
  private final Path folder;
  private final List<ByteBuffer> memory = new ArrayList<>();
  private @Nullable RowFile file;
  private long memoryBytes;
  private boolean closed;

  /** Slabs in memory as far as the budget goes, then in a file of the folder. */
  Slabs(RowBudget budget, Path folder) {
    this.budget = budget;
    this.folder = folder;
  }

  /**
   * A new slab.
   *
   * @throws io.sparqr.error.DiskFullException if it does not fit into memory and on disk
   */
  ByteBuffer add(int bytes) {
    if (budget.take(bytes)) {
      ByteBuffer slab = allocated(bytes);
      if (slab != null) {
        return inMemory(slab);
      }
      // Others have used up -XX:MaxDirectMemorySize; what is left of the budget is not there.
      budget.refused(bytes);
    }
    return inFile(bytes);
  }

  /**
   * Not under the lock: the JVM clears what it gives, and the system each page before that, which
   * takes as long as to fill it. Null if there is no direct memory.
   */
  private static @Nullable ByteBuffer allocated(int bytes) {
    try {
      return ByteBuffer.allocateDirect(bytes);
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  private synchronized ByteBuffer inMemory(ByteBuffer slab) {
    if (closed) {
      budget.give(slab.capacity());
      FreedBuffers.free(slab);
      throw closed();
    }
    memory.add(slab);
    memoryBytes += slab.capacity();
    return slab;
  }

  private synchronized ByteBuffer inFile(int bytes) {
    if (closed) {
      throw closed();
    }
    if (file == null) {
      file = new RowFile(folder);
    }
    long before = file.bytes();
    ByteBuffer slab = file.map(bytes);
    budget.inFiles(file.bytes() - before);
    return slab;
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("memory for rows of R is already freed");
  }

  /** Bytes in memory. */
  synchronized long memoryBytes() {
    return memoryBytes;
  }

  /** Bytes in a file. */
  synchronized long fileBytes() {
    return file == null ? 0 : file.bytes();
  }

  /** Frees all slabs, which must not be used any more. Idempotent. */
  synchronized void free() {
    memory.forEach(FreedBuffers::free);
    if (file != null) {
      file.free();
    }
    forget();
  }

  /** Counts the slabs no more; each is freed when no buffer of it is left. Idempotent. */
  synchronized void forget() {
    if (!closed) {
      closed = true;
      budget.give(memoryBytes);
      budget.inFiles(-fileBytes());
      memory.clear();
    }
  }
}
