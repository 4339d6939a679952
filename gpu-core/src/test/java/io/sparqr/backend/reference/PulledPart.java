/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.DevicePart;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.Task;
import io.sparqr.backend.schedule.TaskLayout;

/**
 * What a PULL does.
 *
 * @param source the front's descriptor where the values are
 * @param target the one where they go
 */
record PulledPart(Task.Pull pull, FrontDescriptor source, FrontDescriptor target) {

  private static final int TILE = TaskLayout.TILE;

  /** Copies the part between arenas and VT slots. */
  void values(double[] from, double[] fromVt, double[] to, double[] toVt) {
    if (pull.part() instanceof DevicePart.Bundle b) {
      int slot = b.slot() * TaskLayout.VT_DOUBLES;
      System.arraycopy(fromVt, slot, toVt, slot, TaskLayout.VT_DOUBLES);
      for (int i : b.rowTiles()) {
        rectangle(from, to, i * TILE, (i + 1) * TILE, b.column() * TILE, TILE);
      }
    } else if (pull.part() instanceof DevicePart.Tiles t) {
      for (int k = t.firstTile(); k < source.columnTiles(); k++) {
        if (t.owners().of(k) == pull.from()) {
          rectangle(from, to, t.rowFrom(), t.rowTo(), k * TILE, TILE);
        }
      }
    } else if (pull.part() instanceof DevicePart.Block b) {
      int fp = source.fp();
      int width = b.columnTo() - b.columnFrom();
      rectangle(from, to, fp + b.rowFrom(), fp + b.rowTo(), fp + b.columnFrom(), width);
    }
  }

  /** The front's state where the part goes, afterwards. */
  int state(int from, int to) {
    if (pull.part() instanceof DevicePart.Bundle) {
      return to;
    }
    return pull.part() instanceof DevicePart.Tiles ? Math.max(from, to) : from;
  }

  private void rectangle(
      double[] from, double[] to, int rowFrom, int rowTo, int column, int width) {
    for (int i = rowFrom; i < rowTo; i++) {
      System.arraycopy(from, place(source, i, column), to, place(target, i, column), width);
    }
  }

  private static int place(FrontDescriptor d, long row, int column) {
    return (int) (d.data() + row * d.ld() + column);
  }
}
