/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** No space is left on a disk that Spark writes to: which folder, and what was to be written. */
public final class DiskFullException extends SparseQrException {

  private static final long serialVersionUID = 1;

  private final String folder;
  private final long neededBytes;

  /**
   * The one-line message, the folder and the need.
   *
   * @param folder a folder, or what Spark's configuration says of several
   * @param neededBytes what was to be written, on all executors together; -1: not known
   * @param cause what was thrown
   */
  public DiskFullException(String message, String folder, long neededBytes, Throwable cause) {
    super(message, cause);
    this.folder = folder;
    this.neededBytes = neededBytes;
  }

  /**
   * The same, with what was to be written.
   *
   * @param what such as "the rows take 1,000 bytes", for the message
   */
  public DiskFullException needing(String what, long bytes) {
    return new DiskFullException(getMessage() + "; " + what, folder, bytes, getCause());
  }

  /** What was to be written, on all executors together, in bytes; -1: not known. */
  public long neededBytes() {
    return neededBytes;
  }

  /** Where no space is left. */
  public String folder() {
    return folder;
  }
}
