/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import io.sparqr.error.CudaException;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import java.util.Set;

/**
 * Checked access to the driver: every code other than success becomes an exception that names the
 * call. Out of memory is {@link InsufficientMemoryException} (the caller can plan smaller stages),
 * an error that poisons the context {@link FatalCudaException}, anything else {@link
 * CudaException}.
 */
public final class CudaDriver {

  public static final int SUCCESS = 0;
  public static final int OUT_OF_MEMORY = 2;

  /** Codes after which every later call in the context fails too. */
  private static final Set<Integer> STICKY =
      Set.of(214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 999);

  private final CudaCalls calls;

  public CudaDriver(CudaCalls calls) {
    this.calls = calls;
  }

  /** The calls; their codes must be passed to {@link #check}. */
  public CudaCalls calls() {
    return calls;
  }

  /** Throws unless the code is success. */
  public void check(String call, int code) {
    if (code == SUCCESS) {
      return;
    }
    String message = call + " failed: " + calls.errorName(code) + " (" + code + ")";
    if (STICKY.contains(code)) {
      throw new FatalCudaException(
          message + "; the device's context is lost, this process must end", call, code);
    }
    throw new CudaException(message, call, code);
  }

  /** Like {@link #check}, for a call that allocates memory. */
  void checkMemory(String call, int code, long bytes) {
    if (code == OUT_OF_MEMORY) {
      long[] free = {0};
      long[] total = {0};
      calls.memoryInfo(free, total);
      throw new InsufficientMemoryException(
          call + ": " + bytes + " bytes asked for, " + free[0] + " free", bytes, free[0]);
    }
    check(call, code);
  }
}
