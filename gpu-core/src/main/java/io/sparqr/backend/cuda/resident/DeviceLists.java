/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.transfer.ListUpload;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.cuda.transfer.Workers;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.solve.SolveLists;

/**
 * {@link SolveLists} on the device, in one buffer, with the words in which a solve counts its
 * progress. Independent of the rows, so that they are built and sent while the rounds run that make
 * those. Owned.
 */
public final class DeviceLists implements AutoCloseable {

  /** The contents of the buffer, each at a multiple of this many bytes. */
  private static final long ALIGN = 256;

  /** The contents of the buffer. */
  enum Part {
    FORWARD,
    BACK,
    NUMBER,
    GATHER,
    GATHER_FROM,
    FORWARD_PROGRESS,
    BACK_PROGRESS
  }

  /** What solves need of the lists on the host. */
  record Sizes(
      int columns,
      int outside,
      int places,
      long outDoubles,
      int storedRhs,
      int terms,
      int forwardItems,
      int backItems) {

    /** Columns that are pivots of the task; they come first. */
    int pivots() {
      return columns - outside;
    }
  }

  private final Sizes sizes;
  private final boolean both;
  private final long[] start = new long[Part.values().length + 1];
  private final DeviceBuffer buffer;

  /**
   * Builds and sends the lists; returns when they have arrived.
   *
   * @param both for R' and R; false: for R alone
   * @throws io.sparqr.error.InsufficientMemoryException if there is no room for them
   */
  public DeviceLists(
      CudaDriver driver, Transfers transfers, Workers workers, StageProgram program, boolean both) {
    this.both = both;
    SolveLists lists =
        both
            ? SolveLists.both(program, workers.threads())
            : SolveLists.backOnly(program, workers.threads());
    SolveLists.Columns columns = lists.columns();
    SolveLists.Gather gather = lists.gather();
    sizes =
        new Sizes(
            columns.count(),
            columns.outside(),
            columns.places(),
            lists.outDoubles(),
            lists.storedRhs(),
            lists.terms(),
            lists.forward().size(),
            lists.back().size());
    long[] bytes = {
      lists.forward().items().limit(),
      lists.back().items().limit(),
      4L * columns.number().length,
      4L * gather.start().length,
      4L * gather.from().length,
      8L * lists.forward().progressWords(),
      8L * lists.back().progressWords()
    };
    for (int k = 0; k < bytes.length; k++) {
      start[k + 1] = start[k] + (bytes[k] + ALIGN - 1) / ALIGN * ALIGN;
    }
    buffer = new DeviceBuffer(driver, start[bytes.length]);
    try {
      new ListUpload(transfers, buffer)
          .bytes(start[Part.FORWARD.ordinal()], lists.forward().items())
          .bytes(start[Part.BACK.ordinal()], lists.back().items())
          .array(start[Part.NUMBER.ordinal()], columns.number())
          .array(start[Part.GATHER.ordinal()], gather.start())
          .array(start[Part.GATHER_FROM.ordinal()], gather.from())
          .run(workers);
    } catch (RuntimeException | Error e) {
      buffer.close();
      throw e;
    }
  }

  /** Whether these are for R' and R, not for R alone. */
  public boolean both() {
    return both;
  }

  Sizes sizes() {
    return sizes;
  }

  /** Device memory held. */
  long bytes() {
    return buffer.bytes();
  }

  long address(Part part) {
    return buffer.address() + start[part.ordinal()];
  }

  /** Sets the progress of a solve to its beginning. */
  void begin(Part progress, CudaStream stream) {
    int k = progress.ordinal();
    stream.fill(buffer.at(start[k]), (byte) 0, start[k + 1] - start[k]);
  }

  /** Downloads the first words of a solve's progress. */
  void end(Part progress, CudaStream stream, PinnedBuffer to, long offset, int words) {
    stream.download(to, offset, buffer.at(start[progress.ordinal()]), 8L * words);
  }

  @Override
  public void close() {
    buffer.close();
  }
}
