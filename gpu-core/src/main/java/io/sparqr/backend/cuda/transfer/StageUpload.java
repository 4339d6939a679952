/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.staged.executor.RoundExecutor.StageInput;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The upload of one stage, at once or by an {@link OrderedUpload}, in pieces that several threads
 * write directly into page-locked buffers. For a single use.
 */
public final class StageUpload {

  /** A block is sent in pieces of so many doubles. */
  private static final long BLOCK_DOUBLES = Transfers.PIECE_BYTES / 8;

  /** Fronts with at least this many bytes of values go through the heap. */
  private static final long LARGE_BYTES = 1L << 30;

  /**
   * Bytes of values gathered by one thread at a time: smaller than a piece copied from contiguous
   * memory, so that all threads have work.
   */
  private static final int VALUE_BYTES = Transfers.PIECE_BYTES / 4;

  /** Pieces of few values, for the same reason, unless they would be very small. */
  private static final int VALUE_PIECES = 64;

  private static final int LEAST_VALUE_BYTES = VALUE_BYTES / 16;

  /**
   * With so many bytes of values all threads have work anyway, and pieces are whole ones: the calls
   * of the driver, of which only one at a time is under way, keep small ones to half of the link's
   * rate (25 of 52 GB/s, 42 with whole pieces).
   */
  private static final long MANY_BYTES = 128L * Transfers.PIECE_BYTES;

  private final Transfers transfers;
  private final StageMemory memory;
  private final List<OrderedUpload.Piece> pieces = new ArrayList<>();

  /** The round that needs the next pieces. */
  private int need;

  public StageUpload(Transfers transfers, StageMemory memory) {
    this.transfers = transfers;
    this.memory = memory;
  }

  /**
   * Descriptors, maps, places of S: all of the structure but the task lists ({@link
   * OrderedUpload#tasks}).
   */
  public StageUpload structure(StageProgram program) {
    ByteBuffer descriptors = program.descriptors();
    array(
        Part.FRONTS,
        descriptors.capacity(),
        1,
        (to, from, count) -> to.put(descriptors.duplicate().position(from).limit(from + count)));
    array(
        Part.MAPS,
        program.maps().length,
        4,
        (to, from, count) -> to.asIntBuffer().put(program.maps(), from, count));
    array(
        Part.S_INDEX,
        program.sIndex().length,
        4,
        (to, from, count) -> to.asIntBuffer().put(program.sIndex(), from, count));
    return this;
  }

  /** Values of S, input contribution blocks, states of the fronts. */
  public StageUpload values(StageProgram program, StageInput input) {
    int pieceBytes = valueBytes(program);
    int from = 0;
    while (from < program.fronts()) {
      int first = from;
      long start = program.descriptor(first).sFrom();
      long end;
      do {
        end = program.descriptor(from).sTo();
        from++;
      } while (from < program.fronts()
          && 8 * (program.descriptor(from).sTo() - start) <= pieceBytes);
      int to = from;
      need = need(program, first, to);
      if (to == first + 1 && 8 * (end - start) > 2L * pieceBytes) {
        large(first, start, input, pieceBytes);
      } else {
        doubles(Part.S_VALUE, start, end - start, b -> input.writeS(first, to, b));
      }
    }
    for (int b = 0; b < program.blocks(); b++) {
      long data = program.descriptor(program.fronts() + b).data();
      long count = program.blockDoubles(b);
      int block = b;
      int parent = program.descriptor(program.fronts() + b).parent();
      need = need(program, parent, parent + 1);
      // one thread would take longer for a large block than its bytes take on the link
      for (long at = 0; at < count; at += BLOCK_DOUBLES) {
        long first = at;
        long last = Math.min(count, at + BLOCK_DOUBLES);
        doubles(
            Part.INPUT, data + first, last - first, t -> input.writeBlock(block, first, last, t));
      }
    }
    need = 0;
    return states(program.initialState());
  }

  /** The first round in which one of some fronts is assembled. */
  private static int need(StageProgram program, int from, int to) {
    int first = Integer.MAX_VALUE;
    for (int f = from; f < to; f++) {
      first = Math.min(first, program.schedule().assemblyRound(f));
    }
    return first;
  }

  private static int valueBytes(StageProgram program) {
    int last = program.fronts() - 1;
    long doubles = last < 0 ? 0 : program.descriptor(last).sTo() - program.descriptor(0).sFrom();
    long even = Math.max(LEAST_VALUE_BYTES, 8 * doubles / VALUE_PIECES);
    return 8 * doubles < MANY_BYTES ? (int) Math.min(VALUE_BYTES, even) : Transfers.PIECE_BYTES;
  }

  /** States of the fronts. */
  public StageUpload states(int[] state) {
    array(Part.STATE, state.length, 4, (to, at, count) -> to.asIntBuffer().put(state, at, count));
    return this;
  }

  /** Splits a front that would keep one thread busy while the others wait. */
  private void large(int front, long start, StageInput input, int pieceBytes) {
    for (StageInput.Part p : input.parts(front, pieceBytes / 8)) {
      doubles(Part.S_VALUE, start + p.offset(), p.doubles(), b -> input.writePart(p, b));
    }
  }

  /** Sends everything and waits; returns the bytes. */
  public long run(Workers workers) {
    try (Transfers.Queue queue = transfers.queue()) {
      workers.run(pieces.size(), i -> pieces.get(i).send().accept(queue));
    }
    return pieces.stream().mapToLong(OrderedUpload.Piece::bytes).sum();
  }

  /** All pieces, with the rounds that need them. */
  List<OrderedUpload.Piece> pieces() {
    return pieces;
  }

  /** Writes elements [from, from + count) of an array. */
  @FunctionalInterface
  private interface ArrayFiller {
    void fill(ByteBuffer target, int from, int count);
  }

  private void array(Part part, int length, int size, ArrayFiller filler) {
    int step = Transfers.PIECE_BYTES / size;
    for (long from = 0; from < length; from += step) {
      int at = (int) from;
      int count = Math.min(step, length - at);
      piece(part, size * from, (long) size * count, t -> filler.fill(t, at, count));
    }
  }

  /** Doubles [at, at + count) of a part; a large piece is written to the heap first. */
  private void doubles(Part part, long at, long count, Consumer<DoubleBuffer> filler) {
    if (8 * count <= LARGE_BYTES) {
      piece(part, 8 * at, 8 * count, b -> filler.accept(b.asDoubleBuffer()));
    } else {
      add(8 * count, queue -> throughTheHeap(queue, part, at, (int) count, filler));
    }
  }

  private void throughTheHeap(
      Transfers.Queue queue, Part part, long at, int count, Consumer<DoubleBuffer> filler) {
    double[] heap = new double[count];
    filler.accept(DoubleBuffer.wrap(heap));
    int step = Transfers.PIECE_BYTES / 8;
    for (long begin = 0; begin < count; begin += step) {
      int from = (int) begin;
      int n = Math.min(step, count - from);
      var to = new Transfers.Slice(memory.get(part), 8 * (at + from), 8 * n);
      queue.send(to, b -> b.asDoubleBuffer().put(heap, from, n));
    }
  }

  private void piece(Part part, long offset, long bytes, Consumer<ByteBuffer> filler) {
    if (bytes > 0) {
      var to = new Transfers.Slice(memory.get(part), offset, Math.toIntExact(bytes));
      add(bytes, queue -> queue.send(to, filler));
    }
  }

  private void add(long bytes, Consumer<Transfers.Queue> send) {
    pieces.add(new OrderedUpload.Piece(need, bytes, send));
  }
}
