/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.spark.SparseRow;
import java.io.Serializable;

/**
 * What tells one reading of a partition's rows from another: counts, and 64-bit hashes of the bits
 * as the caller gave them, in the order of the rows. Rows of weight 0 and stored zeros, which no
 * result depends on, are left out, and so is the order of the entries within a row. Two readings
 * that differ have equal hashes with probability 2^-64; nothing here withstands an adversary.
 *
 * @param rows of positive weight
 * @param nonzeros their entries that are not 0
 * @param entries hash of their indices and values
 * @param weights hash of their weights
 * @param labels hash of their right-hand sides
 * @param unordered sum over the rows of a hash of all that, the same for every order of the rows
 */
public record Fingerprint(
    long rows, long nonzeros, long entries, long weights, long labels, long unordered)
    implements Serializable {

  // odd: digits of the golden ratio, then of splitmix64 (Steele, Lea, Flood 2014)
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long FACTOR = 0xBF58476D1CE4E5B9L;
  private static final long OTHER = 0x94D049BB133111EBL;

  /**
   * A hash of one entry: the 128-bit product of value and index, each made odd-looking, folded. A
   * row's is the sum over its entries: no multiplication waits for the one before it, and two
   * entries that swap their values do not cancel.
   */
  public static long entry(int column, double value) {
    long a = Double.doubleToRawLongBits(value) ^ OTHER;
    long b = column * GOLDEN + FACTOR;
    return a * b ^ Math.multiplyHigh(a, b);
  }

  /** {@link #weights} with one more. */
  public static long withWeight(long weights, double weight) {
    return mix(weights, Double.doubleToRawLongBits(weight));
  }

  /** A bijection in either argument. */
  private static long mix(long h, long x) {
    long m = (h ^ x) * FACTOR;
    return m ^ m >>> 32;
  }

  /**
   * The sum of two parts: counts and {@link #unordered}; the hashes that know the order are 0, so
   * that sums are equal whatever the partitions were.
   */
  public Fingerprint plus(Fingerprint other) {
    return new Fingerprint(
        rows + other.rows, nonzeros + other.nonzeros, 0, 0, 0, unordered + other.unordered);
  }

  /** Of no rows; also what sums begin with. */
  public static Fingerprint ofNothing() {
    return new Builder().fingerprint();
  }

  /** Sums up rows one after the other. Not thread-safe. */
  public static final class Builder {
    private long rows;
    private long nonzeros;
    private long entries;
    private long weights;
    private long labels;
    private long unordered;

    /**
     * Counts a row of positive weight.
     *
     * @param count entries that are not 0
     * @param sum of their {@link Fingerprint#entry}
     * @param weight positive
     * @param label right-hand sides, not weighted
     */
    public void add(int count, long sum, double weight, double[] label) {
      long b = label.length;
      for (double v : label) {
        b = mix(b, Double.doubleToRawLongBits(v));
      }
      long w = Double.doubleToRawLongBits(weight);
      rows++;
      nonzeros += count;
      entries = mix(entries, sum + GOLDEN);
      weights = withWeight(weights, weight);
      labels = mix(labels, b);
      unordered += mix(mix(mix(GOLDEN, sum), w), b);
    }

    /** Counts a row, ignored as everywhere if its weight is 0. */
    public void add(SparseRow row) {
      if (!(row.weight() > 0)) {
        return;
      }
      int count = 0;
      long sum = 0;
      for (int k = 0; k < row.indices().length; k++) {
        if (row.values()[k] != 0) {
          sum += entry(row.indices()[k], row.values()[k]);
          count++;
        }
      }
      add(count, sum, row.weight(), row.labels());
    }

    /** Of the rows so far. */
    public Fingerprint fingerprint() {
      return new Fingerprint(rows, nonzeros, entries, weights, labels, unordered);
    }
  }
}
