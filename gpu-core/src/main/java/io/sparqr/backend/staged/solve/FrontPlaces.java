/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.threads.Parallel;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Where the rows of each front are in a stage's output buffer, for a stage of sound fronts. What
 * remains of a stage whose rows stay on the executor: a few words for each front, not its maps and
 * task lists.
 *
 * @param front numbers of the fronts
 * @param fn columns of each
 * @param rank rows of each, one for each pivot
 * @param block doubles of each front's block that follow the values of its rows, and whose
 *     right-hand sides follow those of the rows; 0 for a block that does not leave the stage
 * @param start size fronts + 1 ({@link StageProgram#outStart})
 * @param rhs right-hand sides stored after each front's rows
 */
record FrontPlaces(int[] front, int[] fn, int[] rank, int[] block, long[] start, int rhs) {

  /** Fronts whose memory a thread allocates at a time. */
  private static final int FRONTS = 64;

  /** The places of these fronts in the buffers of a stage. */
  static FrontPlaces of(StageProgram program, int[] fronts) {
    int n = program.fronts();
    int[] fn = new int[n];
    int[] rank = new int[n];
    int[] block = new int[n];
    for (int f = 0; f < n; f++) {
      FrontDescriptor d = program.descriptor(f);
      fn[f] = d.fn();
      rank[f] = d.fp();
      block[f] = LeavingBlocks.values(d);
    }
    return new FrontPlaces(fronts.clone(), fn, rank, block, program.outStart(), program.rhs());
  }

  /** Entries of R. O(fronts). */
  long entries() {
    long entries = 0;
    for (int f = 0; f < front.length; f++) {
      entries += values(f);
    }
    return entries;
  }

  private int values(int f) {
    return (int) FrontDescriptor.packedValues(rank[f], fn[f]);
  }

  /**
   * Copies the rows to the host; empty if they are gone.
   *
   * @param memory where they are put
   * @param bits the sum of the mixed bits that they had
   * @throws IntegrityFailure if they have another
   */
  Optional<List<FrontFactor>> fetch(KeptRows rows, RowMemory memory, int threads, long bits) {
    if (!rows.areThere()) {
      return Optional.empty();
    }
    var into = new Copies(memory, threads);
    if (!rows.read(threads, into)) {
      return Optional.empty();
    }
    if (into.bits() != bits) {
      throw new IntegrityFailure("R has changed where it was kept, or on its way from there");
    }
    return Optional.of(into.factors());
  }

  /** The rows on the host. */
  private final class Copies implements KeptRows.Piece {
    private final DoubleBuffer[] values = new DoubleBuffer[front.length];
    private final double[][] right = new double[front.length][];
    private final AtomicLongArray bitsOf = new AtomicLongArray(front.length);

    Copies(RowMemory memory, int threads) {
      // By several threads: making memory takes as long as filling it.
      Parallel.loop(
          front.length,
          FRONTS,
          threads,
          (from, to, thread) -> {
            for (int f = from; f < to; f++) {
              values[f] = memory.allocate(values(f));
              right[f] = new double[rank[f] * rhs];
            }
          });
    }

    @Override
    public void take(long from, DoubleBuffer piece) {
      int f = Arrays.binarySearch(start, from);
      // Of fronts without rows, which start where the next one does, the last.
      f = f < 0 ? -f - 2 : f;
      while (start[f + 1] <= from) {
        f++;
      }
      int at = piece.position();
      while (at < piece.limit()) {
        int begin = (int) (from - start[f]);
        int length = (int) Math.min(piece.limit() - at, start[f + 1] - from);
        put(f, begin, piece, at, length);
        at += length;
        from += length;
        f++;
      }
    }

    private void put(int f, int begin, DoubleBuffer piece, int at, int length) {
      long sum = part(values[f], 0, begin, piece, at, length);
      sum += part(DoubleBuffer.wrap(right[f]), values(f) + block[f], begin, piece, at, length);
      bitsOf.addAndGet(f, sum);
    }

    /**
     * Copies what a piece has of one part of a front's slice.
     *
     * @param first place of the part in the slice
     * @param begin place of the piece in the slice
     * @return the sum of the mixed bits copied
     */
    private static long part(
        DoubleBuffer to, int first, int begin, DoubleBuffer piece, int at, int length) {
      int from = Math.max(begin, first);
      int end = Math.min(begin + length, first + to.capacity());
      return from >= end
          ? 0
          : BitChecksum.copied(piece, at + from - begin, to, from - first, end - first);
    }

    long bits() {
      long sum = 0;
      for (int f = 0; f < front.length; f++) {
        sum += bitsOf.get(f);
      }
      return sum;
    }

    List<FrontFactor> factors() {
      Map<Integer, int[]> all = new HashMap<>();
      var factors = new FrontFactor[front.length];
      for (int f = 0; f < factors.length; f++) {
        int[] live = all.computeIfAbsent(rank[f], FrontPlaces::firstOnes);
        factors[f] =
            new FrontFactor(front[f], fn[f], live, values[f], right[f], rhs, bitsOf.get(f));
      }
      return List.of(factors);
    }
  }

  private static int[] firstOnes(int count) {
    int[] live = new int[count];
    Arrays.setAll(live, k -> k);
    return live;
  }
}
