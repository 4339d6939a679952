/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/**
 * Sums of n x s that several units of work add to, in about twice the precision. What only one unit
 * adds to goes to its place at once; columns of the top are summed unit by unit, in their order.
 */
final class UnitSums {

  final Pairs all;
  private final Pairs[] own;
  private final GramChunks chunks;
  private final int s;

  UnitSums(GramChunks chunks, int s, int units) {
    this.chunks = chunks;
    this.s = s;
    all = new Pairs(chunks.topOf.length * s);
    own = new Pairs[units];
  }

  /** Where unit u adds to: to be asked for once, by its thread. */
  View of(int unit) {
    own[unit] = new Pairs(chunks.topColumns * s);
    return new View(own[unit]);
  }

  /** The sums of all units. */
  Pairs sum() {
    for (int j = 0; j < chunks.topOf.length; j++) {
      int t = chunks.topOf[j];
      if (t >= 0) {
        for (Pairs one : own) {
          for (int q = 0; q < s; q++) {
            all.add(j * s + q, one.high[t * s + q]);
            all.low[j * s + q] += one.low[t * s + q];
          }
        }
      }
    }
    return all;
  }

  /** The sums as one unit sees them. */
  final class View {

    private final Pairs top;

    private View(Pairs top) {
      this.top = top;
    }

    /** Column j's sums += f x, x from index 0 on. */
    void add(int j, double f, Pairs x) {
      int t = chunks.topOf[j];
      if (t < 0) {
        all.add(j * s, f, x, 0, s);
      } else {
        top.add(t * s, f, x, 0, s);
      }
    }

    /** Column j's sums += f x. */
    void add(int j, double f, double[] x) {
      int t = chunks.topOf[j];
      if (t < 0) {
        all.add(j * s, f, x, 0, s);
      } else {
        top.add(t * s, f, x, 0, s);
      }
    }

    /** Column j's sum q -= high + low. */
    void subtract(int j, int q, double high, double low) {
      int t = chunks.topOf[j];
      Pairs to = t < 0 ? all : top;
      int at = (t < 0 ? j : t) * s + q;
      to.add(at, -high);
      to.low[at] -= low;
    }
  }
}
