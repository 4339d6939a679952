/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

/** What a device is measured on: a class of fronts each, and a tree that has all of them. */
public enum Workload {
  /** One tall front. */
  TALL("tall front"),
  /** Many fronts of a few column tiles, too large for small ones. */
  NARROW("narrow fronts"),
  /** One large square front. */
  SQUARE("square front"),
  /** Fronts around the limits of small ones. */
  SMALL("small fronts"),
  /** The fronts of a three-dimensional mesh. */
  TREE("mesh"),
  /** Rows of a tall matrix in chunks, from the host's memory to R. */
  CHUNKS("chunks of rows");

  private final String words;

  Workload(String words) {
    this.words = words;
  }

  /** In words. */
  public String words() {
    return words;
  }
}
