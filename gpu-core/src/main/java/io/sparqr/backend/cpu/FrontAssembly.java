/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.assembly.FrontLayout;
import io.sparqr.numeric.assembly.FrontLayout.EmptyRows;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * Writes the inputs of a front to the places in its matrix that {@link FrontLayout} gives. One
 * instance per thread; buffers are reused.
 */
final class FrontAssembly {

  private final RowBlock rows;
  private final FrontLayout layout;
  private ContributionBlock[] blocks = new ContributionBlock[8];

  FrontAssembly(SymbolicAnalysis analysis, RowsByFront rows) {
    this.rows = rows.rows();
    layout = new FrontLayout(analysis, rows, EmptyRows.BEHIND);
  }

  /** Starts front f with its rows of A. */
  void begin(int f) {
    layout.begin(f);
  }

  /** Adds a child's block; children ascending. */
  void addChild(ContributionBlock block) {
    int c = layout.children();
    if (c == blocks.length) {
      blocks = Arrays.copyOf(blocks, 2 * c);
    }
    layout.addChild(block.front(), block.cm());
    blocks[c] = block;
  }

  /** Sorts the rows, which completes the layout. */
  void sort() {
    layout.sort();
  }

  /** The places of all inputs. */
  FrontLayout layout() {
    return layout;
  }

  /** The task's rows of A. */
  RowBlock rows() {
    return rows;
  }

  /** The block of child number c, in order of addition. */
  ContributionBlock block(int c) {
    return blocks[c];
  }

  /**
   * Writes all rows, sorted, into a zeroed column-major matrix with the right-hand sides last.
   *
   * @param fn columns of the front
   */
  void scatter(double[] matrix, int ld, int fn, Crew crew) {
    int[] destination = layout.destination();
    int own = layout.own();
    for (int i = 0; i < own; i++) {
      scatterRow(layout.row(i), matrix, ld, fn, destination[i]);
    }
    for (int c = 0; c < layout.children(); c++) {
      scatterChild(c, matrix, ld, fn, crew);
    }
  }

  /** Writes all rows of a child. */
  private void scatterChild(int c, double[] matrix, int ld, int fn, Crew crew) {
    ContributionBlock block = blocks[c];
    double[] values = block.values();
    int[] column = layout.columns();
    int[] destination = layout.destination();
    int cm = block.cm();
    int cn = block.cn();
    int map = layout.columnStart(c);
    int first = layout.childRow(c);
    Strips.run(
        cn,
        values.length,
        crew,
        (strip, end) -> {
          int shift = 0;
          for (int i = 0; i < cm && i < end; i++) {
            int to = destination[first + i];
            for (int j = Math.max(i, strip); j < end; j++) {
              matrix[to + column[map + j] * ld] = values[shift + j];
            }
            shift += cn - i - 1;
          }
        });
    int nrhs = block.rhsCount();
    for (int i = 0; i < cm; i++) {
      for (int q = 0; q < nrhs; q++) {
        matrix[destination[first + i] + (fn + q) * ld] = block.rhs()[i * nrhs + q];
      }
    }
  }

  /** Writes row i to matrix[offset + column ld], the right-hand sides last. */
  void scatterOne(int i, double[] matrix, int ld, int fn, int offset) {
    if (i < layout.own()) {
      scatterRow(layout.row(i), matrix, ld, fn, offset);
      return;
    }
    int c = layout.childOf(i);
    scatterChild(c, i - layout.childRow(c), matrix, ld, fn, offset);
  }

  /** Releases the children's blocks. */
  void release() {
    Arrays.fill(blocks, 0, layout.children(), null);
  }

  private void scatterRow(int row, double[] matrix, int ld, int fn, int offset) {
    int[] position = rows.position();
    double[] value = rows.value();
    for (int k = rows.rowStart()[row]; k < rows.rowStart()[row + 1]; k++) {
      matrix[offset + layout.column(row, position[k]) * ld] = value[k];
    }
    int nrhs = rows.rhsCount();
    for (int q = 0; q < nrhs; q++) {
      matrix[offset + (fn + q) * ld] = rows.rhs()[row * nrhs + q];
    }
  }

  private void scatterChild(int c, int i, double[] matrix, int ld, int fn, int offset) {
    ContributionBlock block = blocks[c];
    double[] values = block.values();
    int[] column = layout.columns();
    int cn = block.cn();
    int from = Math.toIntExact(block.rowOffset(i));
    int map = layout.columnStart(c);
    for (int j = i; j < cn; j++) {
      matrix[offset + column[map + j] * ld] = values[from + j - i];
    }
    int nrhs = block.rhsCount();
    for (int q = 0; q < nrhs; q++) {
      matrix[offset + (fn + q) * ld] = block.rhs()[i * nrhs + q];
    }
  }
}
