/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Contribution blocks in host memory not yet assembled into a parent, by front of the analysis. */
public final class HeldBlocks implements BlockShapes {

  private final SymbolicAnalysis analysis;
  private final int threads;
  public final ContributionBlock[] block;

  /** Checksum of each block when it was added. */
  private final long[] checksum;

  /** Number of blocks held. */
  private final AtomicInteger held = new AtomicInteger();

  /**
   * Holds blocks.
   *
   * @param threads for checksums
   */
  public HeldBlocks(SymbolicAnalysis analysis, List<ContributionBlock> blocks, int threads) {
    this.analysis = analysis;
    this.threads = threads;
    this.block = new ContributionBlock[analysis.fronts()];
    checksum = new long[analysis.fronts()];
    blocks.forEach(this::put);
  }

  /** The block of a front; null if there is none. */
  public @Nullable ContributionBlock get(int front) {
    return block[front];
  }

  /** Adds a block and computes its checksum. Thread-safe for different fronts. */
  public void put(ContributionBlock b) {
    put(b, BitChecksum.of(b, threads));
  }

  /** Adds a block with a known checksum. Thread-safe for different fronts. */
  public void put(ContributionBlock b, long bits) {
    if (block[b.front()] == null) {
      held.incrementAndGet();
    }
    block[b.front()] = b;
    checksum[b.front()] = bits;
  }

  /** The checksum of a block held. */
  public long bits(int front) {
    return checksum[front];
  }

  /**
   * Checks that blocks are unchanged since they were added. O(values).
   *
   * @throws IntegrityFailure if a bit has changed
   */
  public void verify(List<ContributionBlock> held) {
    for (ContributionBlock b : held) {
      if (BitChecksum.of(b, threads) != checksum[b.front()]) {
        int first = analysis.column(b.front(), analysis.fp(b.front()));
        throw new IntegrityFailure(
            "the held block of front " + b.front() + ", from", first, Double.NaN, 0);
      }
    }
  }

  public void remove(int front) {
    if (block[front] != null) {
      block[front] = null;
      held.decrementAndGet();
    }
  }

  @Override
  public @Nullable BlockShape shape(int front) {
    return block[front] == null ? null : BlockShape.of(block[front]);
  }

  @Override
  public boolean isEmpty() {
    return held.get() == 0;
  }

  /** The nonempty blocks of the fronts' children, ascending by parent. */
  public List<ContributionBlock> inputs(int[] fronts) {
    return inputs(analysis, fronts).stream().map(s -> block[s.front()]).toList();
  }

  /** Releases the blocks of a finished front's children. */
  public void dropChildren(int front) {
    for (int k = 0; k < analysis.childCount(front) && !isEmpty(); k++) {
      remove(analysis.child(front, k));
    }
  }
}
