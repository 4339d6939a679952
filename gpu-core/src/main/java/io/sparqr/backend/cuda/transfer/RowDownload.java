/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.LargeFrontRows;
import io.sparqr.backend.staged.executor.RoundExecutor.RowPieces;
import io.sparqr.backend.staged.executor.RoundExecutor.RowSink;
import io.sparqr.backend.staged.layout.RowGroups;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The rows of R of a stage's sound fronts, downloaded group by group; those of a large front in
 * pieces, so that no page-locked buffer is larger than a piece: page-locking takes longer than the
 * download, and blocks all other driver calls meanwhile. Its first pieces come while the front is
 * still being factored. Thread-safe.
 */
public final class RowDownload {

  /** Bytes of a piece; fronts with more are downloaded in pieces. */
  private static final int PIECE_BYTES = 4 << 20;

  private final Transfers transfers;
  private final Workers workers;
  private final StageMemory memory;
  private final StageProgram program;
  private final RowSink sink;

  /** The end of the launch that completes a group, to wait for; null: all launches are over. */
  private final @Nullable Function<RowGroups.Group, CudaEvent> end;

  private final List<Item> items = new ArrayList<>();

  /** States of all fronts, if all launches are over. */
  private int @Nullable [] known;

  /**
   * One download by one thread: doubles [begin, end) of a group, which is whole if there is no
   * large front.
   */
  private record Item(
      RowGroups.Group group, @Nullable LargeFrontRows large, long begin, long end) {}

  /**
   * The download of a stage's rows to {@code sink}.
   *
   * @param workers that bring rows once more if columns have been dropped
   * @param end of the launch that completes a group; null: all launches are over
   */
  public RowDownload(
      Transfers transfers,
      Workers workers,
      StageMemory memory,
      StageProgram program,
      LaunchPlan plan,
      RowSink sink,
      @Nullable Function<RowGroups.Group, CudaEvent> end) {
    this.transfers = transfers;
    this.workers = workers;
    this.memory = memory;
    this.program = program;
    this.sink = sink;
    this.end = end;
    Map<Integer, List<Item>> parts = new LinkedHashMap<>();
    for (RowGroups.Group group : plan.groups()) {
      int f = group.from();
      if (group.to() - f > 1 || 8L * program.outLength(f) <= PIECE_BYTES) {
        items.add(new Item(group, null, group.begin(), group.end()));
      } else {
        parts.computeIfAbsent(f, none -> new ArrayList<>()).addAll(pieces(group));
      }
    }
    parts.forEach(this::addLarge);
    items.sort((a, b) -> Integer.compare(a.group.ready(), b.group.ready()));
  }

  private static List<Item> pieces(RowGroups.Group group) {
    List<Item> pieces = new ArrayList<>();
    for (long at = group.begin(); at < group.end(); at += PIECE_BYTES / 8) {
      pieces.add(new Item(group, null, at, Math.min(group.end(), at + PIECE_BYTES / 8)));
    }
    return pieces;
  }

  private void addLarge(int f, List<Item> pieces) {
    var large = new LargeFrontRows(sink, f, program.outLength(f), pieces.size());
    pieces.forEach(it -> items.add(new Item(it.group, large, it.begin, it.end)));
  }

  /** Downloads everything, on the workers and the calling thread, once all launches are over. */
  public void run() {
    int n = program.fronts();
    int[] all = new int[n];
    transfers.fetch(null, List.of(states(0, n)), b -> b.asIntBuffer().get(all));
    known = all;
    workers.run(items.size(), this::run);
  }

  /** Starts to download everything, in order of completion. */
  public Workers.Running start() {
    return workers.start(items.size(), this::run);
  }

  /** Waits for an item's rows and passes them to the sink. */
  private void run(int item) {
    Item it = items.get(item);
    RowGroups.Group group = it.group;
    CudaEvent ready = end == null ? null : end.apply(group);
    if (it.large == null) {
      transfers.fetch(
          ready,
          List.of(rows(it.begin, it.end), states(group.from(), group.to())),
          b -> handOut(group, b));
      return;
    }
    LargeFrontRows large = it.large;
    if (known != null && !TaskLayout.isDone(known[group.from()])) {
      return;
    }
    put(large, large.rows(), it.begin, it.end, ready);
    if (large.isLast()) {
      finish(large);
    }
  }

  private void put(
      LargeFrontRows large, RowPieces to, long begin, long end, @Nullable CudaEvent ready) {
    int at = (int) (begin - program.outStart(large.front()));
    transfers.fetch(ready, List.of(rows(begin, end)), b -> to.put(at, b.asDoubleBuffer()));
  }

  /** After the last piece, which was complete with the front's last round. */
  private void finish(LargeFrontRows large) {
    if (known != null) {
      large.rows().end();
      return;
    }
    int f = large.front();
    int[] state = new int[1];
    transfers.fetch(null, List.of(states(f, f + 1)), b -> state[0] = b.getInt(0));
    large.end(state[0], to -> putAll(large, to));
  }

  private void putAll(LargeFrontRows large, RowPieces to) {
    List<Item> all = items.stream().filter(it -> it.large == large).toList();
    workers.run(all.size(), i -> put(large, to, all.get(i).begin, all.get(i).end, null));
  }

  /** Passes on a group's rows; the buffer holds rows, then states of the fronts. */
  private void handOut(RowGroups.Group group, ByteBuffer buffer) {
    int states = buffer.capacity() - 4 * (group.to() - group.from());
    for (int f = group.from(); f < group.to(); f++) {
      int at = (int) (8 * (program.outStart(f) - group.begin()));
      int length = 8 * program.outLength(f);
      int state = buffer.getInt(states + 4 * (f - group.from()));
      if (TaskLayout.isDone(state) && length > 0) {
        sink.accept(f, buffer.slice(at, length).order(buffer.order()).asDoubleBuffer());
      }
    }
  }

  private Transfers.Slice rows(long begin, long end) {
    return new Transfers.Slice(memory.get(Part.OUT), 8 * begin, (int) (8 * (end - begin)));
  }

  private Transfers.Slice states(int from, int to) {
    return new Transfers.Slice(memory.get(Part.STATE), 4L * from, 4 * (to - from));
  }
}
