/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.List;
import java.util.Optional;

/**
 * A task's R where its backend made it. It may be gone at any time: its memory is needed, it has
 * not been used for a while, the device is lost. For a task without dead columns. Thread-safe.
 *
 * <p>The columns outside the task are those of its rows that are pivots of tasks above it; a task
 * of whole trees has none. They follow the task's pivots in vectors, both by ascending position.
 */
public interface ResidentFactor extends AutoCloseable {

  /**
   * (R'R)^-1 c for a task of whole trees, with the same bits each time; empty if R is gone.
   *
   * @param c size rank x width: values at the task's pivots, in their order
   * @throws IllegalArgumentException if the task is not one of whole trees
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if R has changed or the backward error is
   *     larger than rounding explains: then this R must not be used again
   * @throws io.sparqr.error.InsufficientMemoryException if there is no room for the vectors
   * @throws io.sparqr.error.FatalCudaException if the device is lost
   */
  Optional<double[]> solve(double[] c, int width);

  /**
   * R'y = c for the task's part of R, with the same bits each time; empty if R is gone.
   *
   * @param c size rank x width: values at the task's pivots, the updates of tasks below it added
   * @return y at the pivots, then the task's update, which is to be added to c, at the columns
   *     outside
   * @throws io.sparqr.numeric.integrity.IntegrityFailure as for {@link #solve}
   * @throws io.sparqr.error.InsufficientMemoryException as for {@link #solve}
   * @throws io.sparqr.error.FatalCudaException as for {@link #solve}
   */
  Optional<double[]> forward(double[] c, int width);

  /**
   * R x = c for the task's part of R, with the same bits each time; empty if R is gone.
   *
   * @param given c at the task's pivots, then x at the columns outside, width values each
   * @return x at the task's pivots
   * @throws io.sparqr.numeric.integrity.IntegrityFailure as for {@link #solve}
   * @throws io.sparqr.error.InsufficientMemoryException as for {@link #solve}
   * @throws io.sparqr.error.FatalCudaException as for {@link #solve}
   */
  Optional<double[]> back(double[] given, int width);

  /**
   * R^-1 Q'b for the right-hand sides that were factored with the matrix, and R^-1 w for the {@link
   * Probe} after them, with the same bits each time; empty if R is gone or there were none.
   *
   * @param outside x at the columns outside the task, a value for each of these right-hand sides
   *     and the probe
   * @return values at the task's pivots, in their order, for each of them
   * @throws io.sparqr.numeric.integrity.IntegrityFailure as for {@link #solve}
   * @throws io.sparqr.error.InsufficientMemoryException as for {@link #solve}
   * @throws io.sparqr.error.FatalCudaException as for {@link #solve}
   */
  Optional<double[]> solveStored(double[] outside);

  /**
   * The rows of R, copied to the host; empty if R is gone. O(entries).
   *
   * @param memory where they are put
   * @param threads host threads
   * @return one for each front of the task, in its order, with checksums
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if R has changed: then this R must not be
   *     used again
   * @throws io.sparqr.error.DiskFullException as {@code memory} does
   * @throws io.sparqr.error.FatalCudaException as for {@link #solve}
   */
  Optional<List<FrontFactor>> fetch(RowMemory memory, int threads);

  /**
   * Names an owner that has no other copy. R then makes room (when its memory is needed, or it has
   * not been used for a while) only to other memory from which solves go on, or after {@link
   * Claim#take}. Not before {@link #close}, and not if the device is lost.
   */
  void claimed(Claim claim);

  /** A claim to R by an owner that has no other copy of it. */
  interface Claim {

    /** Says that no owner needs R where it is. */
    Claim NONE =
        new Claim() {
          @Override
          public boolean stands() {
            return false;
          }

          @Override
          public void take() {
            // Not needed.
          }
        };

    /** Whether R is still needed where it is. */
    boolean stands();

    /** Called while R can be fetched, for the last time. */
    void take();
  }

  /** Entries of R. */
  long entries();

  /** Bytes of the device's memory that R takes now, with what solves need. */
  long bytes();

  /** Frees R; idempotent. */
  @Override
  void close();
}
