/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * No space is left on a disk that is written to; names the folder and, if known, the size of the
 * data.
 */
public final class DiskFullException extends SparseQrException {

  private static final long serialVersionUID = 1;

  private final String folder;
  private final long neededBytes;

  /**
   * The one-line message, the folder and the need.
   *
   * @param folder a folder, or Spark's configured list of folders
   * @param neededBytes bytes to be written by all executors together; -1: not known
   * @param cause the original error
   */
  public DiskFullException(
      String message, String folder, long neededBytes, @Nullable Throwable cause) {
    super(message, cause);
    this.folder = folder;
    this.neededBytes = neededBytes;
  }

  /**
   * This error with the size of the data added.
   *
   * @param what such as "the rows take 1,000 bytes", for the message
   */
  public DiskFullException needing(String what, long bytes) {
    return new DiskFullException(getMessage() + "; " + what, folder, bytes, getCause());
  }

  /** Bytes to be written by all executors together, if they are known. */
  public OptionalLong neededBytes() {
    return neededBytes < 0 ? OptionalLong.empty() : OptionalLong.of(neededBytes);
  }

  /** The full folder. */
  public String folder() {
    return folder;
  }
}
