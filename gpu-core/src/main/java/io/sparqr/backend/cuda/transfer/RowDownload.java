/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor.RowPieces;
import io.sparqr.backend.staged.executor.RoundExecutor.RowSink;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The rows of R of a stage's sound fronts, downloaded group by group; those of a large front in
 * pieces, so that no page-locked buffer is larger than a piece: page-locking takes longer than the
 * download, and blocks all other driver calls meanwhile. Thread-safe.
 */
public final class RowDownload {

  /** Bytes of a piece; fronts with more are downloaded in pieces. */
  private static final int PIECE_BYTES = 4 << 20;

  private final Transfers transfers;
  private final StageMemory memory;
  private final StageProgram program;
  private final RowSink sink;
  private final List<Item> items = new ArrayList<>();

  /** One download by one thread: a whole group, or bytes [from, to) of its only front. */
  private record Item(LaunchPlan.Group group, @Nullable Large large, long from, long to) {}

  /** A front downloaded in pieces. */
  private final class Large {
    private final int front;
    private final AtomicInteger left;

    /** Null: not begun, or the front is not sound. */
    private @Nullable RowPieces rows;

    private boolean begun;

    Large(int front, int pieces) {
      this.front = front;
      this.left = new AtomicInteger(pieces);
    }

    /** The first piece finds out whether the front is sound; null if it is not. */
    synchronized @Nullable RowPieces begin(@Nullable CudaEvent ready) {
      if (!begun) {
        int[] state = new int[1];
        transfers.fetch(ready, List.of(states(front, front + 1)), b -> state[0] = b.getInt(0));
        if (TaskLayout.isDone(state[0])) {
          rows = sink.begin(front, program.outLength(front));
        }
        begun = true;
      }
      return rows;
    }
  }

  /** The download of a stage's rows to {@code sink}, front by front. */
  public RowDownload(
      Transfers transfers,
      StageMemory memory,
      StageProgram program,
      LaunchPlan plan,
      RowSink sink) {
    this.transfers = transfers;
    this.memory = memory;
    this.program = program;
    this.sink = sink;
    for (LaunchPlan.Group group : plan.groups()) {
      long bytes = bytes(group);
      if (bytes <= PIECE_BYTES || group.to() - group.from() > 1) {
        items.add(new Item(group, null, 0, bytes));
        continue;
      }
      int pieces = (int) ((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
      var large = new Large(group.from(), pieces);
      for (int k = 0; k < pieces; k++) {
        long from = (long) k * PIECE_BYTES;
        items.add(new Item(group, large, from, Math.min(bytes, from + PIECE_BYTES)));
      }
    }
  }

  private long bytes(LaunchPlan.Group group) {
    return 8 * (program.outStart(group.to()) - program.outStart(group.from()));
  }

  /** Number of items, which are in order of completion. */
  public int items() {
    return items.size();
  }

  /** The group of an item. */
  public LaunchPlan.Group group(int item) {
    return items.get(item).group;
  }

  /** Waits for an item's rows and passes them to the sink. */
  public void run(int item, @Nullable CudaEvent ready) {
    Item it = items.get(item);
    if (it.large != null) {
      piece(it, it.large, ready);
      return;
    }
    LaunchPlan.Group group = it.group;
    transfers.fetch(
        ready,
        List.of(rows(program.outStart(group.from()), it.to), states(group.from(), group.to())),
        b -> handOut(group, b));
  }

  private void piece(Item it, Large large, @Nullable CudaEvent ready) {
    RowPieces rows = large.begin(ready);
    if (rows == null) {
      return;
    }
    transfers.fetch(
        null,
        List.of(rows(program.outStart(large.front) + it.from / 8, it.to - it.from)),
        b -> rows.put((int) (it.from / 8), b.asDoubleBuffer()));
    if (large.left.decrementAndGet() == 0) {
      rows.end();
    }
  }

  /** Passes on a group's rows; the buffer holds rows, then states of the fronts. */
  private void handOut(LaunchPlan.Group group, ByteBuffer buffer) {
    long start = program.outStart(group.from());
    int states = buffer.capacity() - 4 * (group.to() - group.from());
    for (int f = group.from(); f < group.to(); f++) {
      int at = (int) (8 * (program.outStart(f) - start));
      int length = 8 * program.outLength(f);
      int state = buffer.getInt(states + 4 * (f - group.from()));
      if (TaskLayout.isDone(state) && length > 0) {
        sink.accept(f, buffer.slice(at, length).order(buffer.order()).asDoubleBuffer());
      }
    }
  }

  private Transfers.Slice rows(long from, long bytes) {
    return new Transfers.Slice(memory.get(Part.OUT), 8 * from, (int) bytes);
  }

  private Transfers.Slice states(int from, int to) {
    return new Transfers.Slice(memory.get(Part.STATE), 4L * from, 4 * (to - from));
  }
}
