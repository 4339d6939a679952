/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * Sizes and links of a stage's fronts: what the sparse scheduler needs to know. Filled by whoever
 * lays the stage out, then only read.
 */
final class StageFronts {

  final int fronts;
  final int blocks;
  final int rhs;

  /** Whether a VT slot is written once only, so that Q can be had after the rounds. */
  boolean keepQ;

  /** size fronts each: rows, columns, pivot columns, contribution rows. */
  final int[] fm;

  final int[] fn;
  final int[] fp;
  final int[] cm;

  /** size fronts; receiving front of the stage, or -1. */
  final int[] parent;

  /** size fronts; rows that go to the output buffer: those of R, then perhaps the block's. */
  final int[] outRows;

  /** size fronts + 1; first output double of each front. */
  final long[] outStart;

  /** size fronts + 1; first S entry of each front. */
  final long[] sStart;

  /** size fronts; the rounds of each tiled front, null for a small one. */
  final FrontSchedule[] rounds;

  /** size blocks each: receiving front, rows, columns. */
  final int[] blockParent;

  final int[] blockCm;
  final int[] blockCn;

  StageFronts(int fronts, int blocks, int rhs) {
    this.fronts = fronts;
    this.blocks = blocks;
    this.rhs = rhs;
    fm = new int[fronts];
    fn = new int[fronts];
    fp = new int[fronts];
    cm = new int[fronts];
    parent = new int[fronts];
    outRows = new int[fronts];
    outStart = new long[fronts + 1];
    sStart = new long[fronts + 1];
    rounds = new FrontSchedule[fronts];
    blockParent = new int[blocks];
    blockCm = new int[blocks];
    blockCn = new int[blocks];
  }

  /** First row of front f that is neither R's nor the contribution block's. */
  int tailRow(int f) {
    return Math.min(fm[f], fn[f]);
  }

  /** Place of row i of front f in its packed values: rows of fn - i values. */
  long packedRow(int f, int i) {
    return outStart[f] + (long) i * fn[f] - (long) i * (i - 1) / 2;
  }

  /** Place of the right-hand sides of row i of front f in the output buffer. */
  long packedRhs(int f, int i) {
    return packedRow(f, outRows[f]) + (long) i * rhs;
  }

  /** Column tiles of front f, right-hand sides included. */
  int columnTiles(int f) {
    return TaskLayout.tiles(fn[f] + rhs);
  }
}
