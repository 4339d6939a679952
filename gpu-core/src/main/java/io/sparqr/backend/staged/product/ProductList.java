/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.product;

import io.sparqr.backend.schedule.FrontSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.stream.IntStream;

/**
 * The bundles of a tiled front as the items of a product with Q' or, backwards, with Q
 * (SparqrProductItem of {@code dense/products.cuh}). An item names, for each of its row tiles, how
 * many items before it have that tile: what they did has to be done before.
 *
 * @param items {@value #BYTES} bytes each, little-endian
 * @param count of items
 */
public record ProductList(ByteBuffer items, int count) {

  /** Bytes of an item. */
  public static final int BYTES = 80;

  private static final int TILES = 16;
  private static final int NEEDS = 48;

  /**
   * The list of a front of a stage that keeps Q: each bundle has a VT slot of its own.
   *
   * @param rowTiles of the front
   * @param transposed whether the product is one with Q'
   */
  public static ProductList of(FrontSchedule schedule, int rowTiles, boolean transposed) {
    var place = IntStream.builder();
    var slot = IntStream.builder();
    int base = 0;
    int count = 0;
    for (int round = 0; round < schedule.rounds(); round++) {
      for (int op = schedule.opStart(round);
          op < schedule.opStart(round + 1);
          op = schedule.next(op)) {
        if (schedule.factorized(op) >= 0) {
          place.add(op);
          slot.add(base + schedule.writeSlot(op));
          count++;
        }
      }
      base += schedule.writes(round);
    }
    int[] ops = place.build().toArray();
    int[] slots = slot.build().toArray();
    ByteBuffer items =
        ByteBuffer.allocateDirect(Math.multiplyExact(count, BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    int[] done = new int[rowTiles];
    for (int i = 0; i < count; i++) {
      int k = transposed ? i : count - 1 - i;
      write(items, i * BYTES, schedule, ops[k], slots[k], done);
    }
    return new ProductList(items, count);
  }

  private static void write(
      ByteBuffer items, int at, FrontSchedule schedule, int op, int slot, int[] done) {
    int first = schedule.bundleFrom(op);
    int size = schedule.size(op) - first;
    items.putInt(at, size);
    items.putInt(at + 4, schedule.factorized(op));
    items.putInt(at + 8, slot);
    for (int s = 0; s < TaskLayout.MAX_BUNDLE; s++) {
      // places beyond the last row tile name none
      boolean there = s < size;
      int tile = there ? schedule.tile(op, first + s) : 0;
      items.putInt(at + TILES + 4 * s, tile);
      items.putInt(at + NEEDS + 4 * s, there ? done[tile]++ : 0);
    }
  }

  /** Row tiles of item i. */
  public int size(int i) {
    return items.getInt(i * BYTES);
  }

  /** Column tile of its reflectors. */
  public int column(int i) {
    return items.getInt(i * BYTES + 4);
  }

  /** Its VT slot, from the front's first. */
  public int slot(int i) {
    return items.getInt(i * BYTES + 8);
  }

  /** Its row tile s, ascending. */
  public int tile(int i, int s) {
    return items.getInt(i * BYTES + TILES + 4 * s);
  }

  /** How many items must have had its row tile s before it. */
  public int need(int i, int s) {
    return items.getInt(i * BYTES + NEEDS + 4 * s);
  }
}
