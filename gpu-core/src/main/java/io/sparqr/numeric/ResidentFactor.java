/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.List;
import java.util.Optional;

/**
 * A task's R where its backend made it. It may be gone at any time: its memory is needed, it has
 * not been used for a while, the device is lost. For a task of whole trees without dead columns.
 * Thread-safe.
 */
public interface ResidentFactor extends AutoCloseable {

  /**
   * (R'R)^-1 c, with the same bits each time; empty if R is gone.
   *
   * @param c size rank x width: values at the task's pivots, in their order
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if R has changed or the backward error is
   *     larger than rounding explains: then this R must not be used again
   * @throws io.sparqr.error.InsufficientMemoryException if there is no room for the vectors
   * @throws io.sparqr.error.FatalCudaException if the device is lost
   */
  Optional<double[]> solve(double[] c, int width);

  /**
   * R^-1 Q'b for the right-hand sides that were factored with the matrix, with the same bits each
   * time; empty if R is gone or there were none.
   *
   * @return values at the task's pivots, in their order
   * @throws io.sparqr.numeric.integrity.IntegrityFailure as for {@link #solve}
   * @throws io.sparqr.error.InsufficientMemoryException as for {@link #solve}
   * @throws io.sparqr.error.FatalCudaException as for {@link #solve}
   */
  Optional<double[]> solveStored();

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
   * Sets what is done before R gives way to somebody else while it could still be fetched: its
   * memory is needed, or it has not been used for a while. Not before {@link #close}, and not if
   * the device is lost.
   */
  void beforeItGoes(Runnable action);

  /** Entries of R. */
  long entries();

  /** Bytes of the memory that R takes there, with what solves need. */
  long bytes();

  /** Frees R; idempotent. */
  @Override
  void close();
}
