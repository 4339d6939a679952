/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import java.nio.ByteBuffer;

/**
 * SparqrSolveItem of {@code triangular.cuh}: a part of a solve by one thread block.
 *
 * @param out place of the front's packed rows in the output buffer
 * @param outRhs place of their right-hand sides
 * @param kind {@link #WHOLE}, {@link #PRODUCT}, {@link #TRIANGLE} or {@link #ASSEMBLE}
 * @param front the front
 * @param part the rows and columns
 * @param first must have been reached
 * @param second must have been reached too
 * @param signal this count gets one more; -1: none
 */
public record SolveItem(
    long out, long outRhs, int kind, Front front, Part part, Wait first, Wait second, int signal) {

  /**
   * The front of an item.
   *
   * @param fn columns
   * @param fp pivots
   * @param start first place of its columns
   */
  public record Front(int fn, int fp, int start) {}

  /**
   * The rows and columns of an item.
   *
   * @param rowFrom first row of R
   * @param rowTo end of the rows
   * @param columnFrom first column
   * @param columnTo end of the columns
   */
  public record Part(int rowFrom, int rowTo, int columnFrom, int columnTo) {}

  /**
   * A count, and what it must have reached.
   *
   * @param count -1: none
   */
  public record Wait(int count, int reached) {
    static final Wait NONE = new Wait(-1, 0);
  }

  /** Bytes of SparqrSolveItem. */
  public static final int BYTES = 80;

  /** Most items of a list: their bytes fit a buffer. */
  static final int MOST = Integer.MAX_VALUE / BYTES;

  /** Products and triangle of a front of few rows. */
  public static final int WHOLE = 0;

  /** Products with a step. */
  public static final int PRODUCT = 1;

  /** The triangle of a step. */
  public static final int TRIANGLE = 2;

  /** A front's right-hand side before its own steps. */
  public static final int ASSEMBLE = 3;

  /** Most rows of a front that one thread block solves alone; {@code SPARQR_SOLVE_ROWS}. */
  static final int ROWS = 32;

  /** Most columns of such a front. */
  static final int WHOLE_COLUMNS = 4096;

  /** Approximate entries of R for an item of a front with more rows or columns. */
  static final int ENTRIES = 1 << 15;

  /** Rows whose triangle is solved by one thread block; {@code SPARQR_SOLVE_STEP}. */
  static final int STEP = 64;

  /**
   * Counts in a cache line: those of a front with several are on lines of their own, because many
   * thread blocks look at each while others raise the next.
   */
  static final int LINE = 32;

  /** {@link Front#fn}. */
  public int fn() {
    return front.fn;
  }

  /** {@link Front#fp}. */
  public int fp() {
    return front.fp;
  }

  /** {@link Front#start}. */
  public int start() {
    return front.start;
  }

  /** {@link Part#rowFrom}. */
  public int rowFrom() {
    return part.rowFrom;
  }

  /** {@link Part#rowTo}. */
  public int rowTo() {
    return part.rowTo;
  }

  /** {@link Part#columnFrom}. */
  public int columnFrom() {
    return part.columnFrom;
  }

  /** {@link Part#columnTo}. */
  public int columnTo() {
    return part.columnTo;
  }

  /** Whether a front is one item. */
  static boolean whole(FrontDescriptor d) {
    return d.fp() <= ROWS && d.fn() <= WHOLE_COLUMNS;
  }

  /** Steps of a front. */
  static int steps(FrontDescriptor d) {
    return whole(d) ? 1 : (d.fp() + STEP - 1) / STEP;
  }

  /** The item at an index of a list. */
  public static SolveItem read(ByteBuffer list, int index) {
    int at = index * BYTES;
    return new SolveItem(
        list.getLong(at),
        list.getLong(at + 8),
        list.getInt(at + 16),
        new Front(list.getInt(at + 20), list.getInt(at + 24), list.getInt(at + 28)),
        new Part(
            list.getInt(at + 32), list.getInt(at + 36), list.getInt(at + 40), list.getInt(at + 44)),
        new Wait(list.getInt(at + 48), list.getInt(at + 52)),
        new Wait(list.getInt(at + 56), list.getInt(at + 60)),
        list.getInt(at + 64));
  }
}
