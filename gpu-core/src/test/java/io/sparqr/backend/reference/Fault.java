/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.SpoiledTasks;

/** A kind of fault. */
public enum Fault {
  /** A bit of the fronts: A on its way to R, contribution rows, V, right-hand sides, padding. */
  ARENA,
  /** A bit of a bundle's first V tile or of its T. */
  VT,
  /** A bit of an S entry. */
  ENTRY,
  /** A bit of a packed block that came from outside. */
  INPUT,
  /** A bit of the packed rows of the output. */
  OUT,
  /** A bit of a residual's partial sum. */
  RESIDUAL,
  /** Another state of a front. */
  STATE,
  /** A bit of R or Q'b on the host. */
  HOST_R,
  /** A bit of a block that is held on the host. */
  HOST_BLOCK,
  /** A bit of a task's rows, after they went to the executor. */
  HOST_ROWS,
  /** A bit of rows that were fetched after the rounds. */
  FETCHED,
  /** A bit of V or T that was fetched to keep Q. */
  KEPT_Q,
  /** An entry of a row map. */
  ROW_MAP,
  /** An entry of a column map. */
  COLUMN_MAP,
  /** The place of an S entry. */
  S_PLACE,
  COUNT(SpoiledTasks.Kind.COUNT),
  LEFT_OUT(SpoiledTasks.Kind.LEFT_OUT),
  TWICE(SpoiledTasks.Kind.TWICE),
  VT_SLOT(SpoiledTasks.Kind.VT_SLOT),
  TILE(SpoiledTasks.Kind.TILE);

  private final SpoiledTasks.Kind task;

  Fault() {
    this(null);
  }

  Fault(SpoiledTasks.Kind task) {
    this.task = task;
  }

  /** The fault in a task's record; null: the fault is elsewhere. */
  SpoiledTasks.Kind task() {
    return task;
  }

  /** Whether a bit of a double is flipped. */
  public boolean flips() {
    return task == null
        && this != STATE
        && this != ROW_MAP
        && this != COLUMN_MAP
        && this != S_PLACE;
  }
}
