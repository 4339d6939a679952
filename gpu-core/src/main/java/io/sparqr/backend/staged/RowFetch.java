/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.RowTasks;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.threads.Parallel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Downloads rows of a stage's fronts after its rounds, by lists of PACK_ROWS tasks. In pieces,
 * because the stage may have taken nearly all of the device's memory.
 */
final class RowFetch {

  /** Approximate doubles downloaded by one list. */
  private static final int LIST_DOUBLES = 1 << 24;

  private final RoundExecutor executor;
  private final StageProgram program;
  private final int threads;
  private final int listDoubles;
  private long doubles;

  RowFetch(RoundExecutor executor, StageProgram program, int threads) {
    this(executor, program, threads, LIST_DOUBLES);
  }

  /** For tests: with lists of at most this many doubles, or of 32 rows. */
  RowFetch(RoundExecutor executor, StageProgram program, int threads, int listDoubles) {
    this.executor = executor;
    this.program = program;
    this.threads = threads;
    this.listDoubles = listDoubles;
  }

  /** Doubles downloaded so far. */
  long doubles() {
    return doubles;
  }

  /** Rows [from, to) of front {@code front} of the stage. */
  record Piece(int front, int from, int to) {}

  /** Receives fetched rows. */
  interface FetchedRows {

    /**
     * Takes a piece: row i of the front starting at its column i, then the rows' right-hand sides.
     */
    void take(Piece piece, DoubleBuffer rows);
  }

  /**
   * Downloads rows.
   *
   * @param which rows of fronts; cut into pieces here
   * @param sink receives each piece once, several at a time
   */
  void run(List<Piece> which, FetchedRows sink) {
    var pieces = new ArrayList<Piece>();
    long length = 0;
    for (Piece whole : which) {
      FrontDescriptor d = program.descriptor(whole.front);
      int step = Math.max(1, listDoubles / (d.fn() + d.rhs()) / TaskLayout.TILE) * TaskLayout.TILE;
      for (int i = whole.from; i < whole.to; i += step) {
        var piece = new Piece(whole.front, i, Math.min(whole.to, i + step));
        long more = packedDoubles(piece);
        if (!pieces.isEmpty() && length + more > listDoubles) {
          fetch(pieces, sink);
          pieces.clear();
          length = 0;
        }
        pieces.add(piece);
        length += more;
      }
    }
    fetch(pieces, sink);
  }

  /**
   * Downloads contribution blocks.
   *
   * @param fronts of the stage, by number of the analysis
   * @param which indices into these
   */
  List<ContributionBlock> blocks(int[] fronts, List<Integer> which) {
    var block = new ContributionBlock[fronts.length];
    var pieces = new ArrayList<Piece>();
    for (int f : which) {
      FrontDescriptor d = program.descriptor(f);
      double[] values = new double[(int) ContributionBlock.packedLength(d.cm(), d.cn())];
      double[] rhs = new double[d.cm() * d.rhs()];
      block[f] = new ContributionBlock(fronts[f], d.cm(), d.cn(), values, rhs, d.rhs());
      pieces.add(new Piece(f, d.fp(), d.fp() + d.cm()));
    }
    run(
        pieces,
        (piece, rows) -> {
          ContributionBlock b = block[piece.front];
          int first = piece.from - program.descriptor(piece.front).fp();
          int right = (piece.to - piece.from) * b.rhsCount();
          rows.get(b.values(), (int) b.rowOffset(first), rows.remaining() - right);
          rows.get(b.rhs(), first * b.rhsCount(), right);
        });
    return which.stream().map(f -> block[f]).toList();
  }

  private long packedDoubles(Piece p) {
    return program.descriptor(p.front).packedDoubles(p.from, p.to);
  }

  private void fetch(List<Piece> pieces, FetchedRows sink) {
    int count = 0;
    for (Piece p : pieces) {
      count += TaskLayout.tiles(p.to - p.from);
    }
    ByteBuffer list =
        ByteBuffer.allocateDirect(count * TaskLayout.TASK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    var tasks = new RowTasks(list);
    int[] start = new int[pieces.size() + 1];
    for (int k = 0; k < pieces.size(); k++) {
      Piece p = pieces.get(k);
      FrontDescriptor d = program.descriptor(p.front);
      start[k + 1] = Math.toIntExact(start[k] + packedDoubles(p));
      long right = start[k + 1] - (long) (p.to - p.from) * d.rhs();
      for (int i = p.from; i < p.to; i += TaskLayout.TILE) {
        long done = (long) (i - p.from) * d.rhs();
        long row = start[k] + d.packedDoubles(p.from, i) - done;
        int end = Math.min(p.to, i + TaskLayout.TILE);
        tasks.add(p.front, i, end, row, right + done);
      }
    }
    double[] out = executor.fetch(list, count, start[pieces.size()]);
    doubles += out.length;
    Parallel.loop(
        pieces.size(),
        1,
        threads,
        (lo, hi, thread) -> {
          for (int k = lo; k < hi; k++) {
            sink.take(pieces.get(k), DoubleBuffer.wrap(out, start[k], start[k + 1] - start[k]));
          }
        });
  }
}
