/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import org.jspecify.annotations.Nullable;

/**
 * Root of every error that Sparqr reports about its input, its resources or its results. Each
 * subclass carries typed, serializable fields and one line of text that names the problem and its
 * place. Caller bugs remain {@link IllegalArgumentException}, use after close {@link
 * IllegalStateException}.
 */
public abstract sealed class SparseQrException extends RuntimeException
    permits BackendUnavailableException,
        CudaException,
        DimensionMismatchException,
        DiskFullException,
        IllConditionedException,
        IndexOverflowException,
        InputChangedException,
        InsufficientMemoryException,
        MatrixFormatException,
        NonFiniteSolutionException,
        NonFiniteValueException,
        NumericalIntegrityException,
        RankDeficientException,
        TaskFailedException,
        WireFormatException {

  /** One line that names what is wrong and where. */
  protected SparseQrException(String message) {
    super(message);
  }

  /** One line that names what is wrong and where, and the error behind it. */
  protected SparseQrException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
