/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** A CUDA driver call failed: the call and the driver's code. */
public non-sealed class CudaException extends SparseQrException {

  private final String call;
  private final int code;

  /** The one-line message, and the fields that a program can read. */
  public CudaException(String message, String call, int code) {
    super(message);
    this.call = call;
    this.code = code;
  }

  public String call() {
    return call;
  }

  public int code() {
    return code;
  }
}
