/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** No space is left on a disk that Spark writes to: which folder. */
public final class DiskFullException extends SparseQrException {

  private static final long serialVersionUID = 1;

  private final String folder;

  /**
   * The one-line message, and the folder.
   *
   * @param folder a folder, or what Spark's configuration says of several
   * @param cause what was thrown
   */
  public DiskFullException(String message, String folder, Throwable cause) {
    super(message, cause);
    this.folder = folder;
  }

  /** Where no space is left. */
  public String folder() {
    return folder;
  }
}
