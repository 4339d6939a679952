/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/**
 * A CUDA error that poisons the context: nothing on the device can be trusted after it. The
 * executor must end so that Spark replaces it.
 */
public final class FatalCudaException extends CudaException {

  /** The one-line message, the driver call and its code. */
  public FatalCudaException(String message, String call, int code) {
    super(message, call, code);
  }
}
