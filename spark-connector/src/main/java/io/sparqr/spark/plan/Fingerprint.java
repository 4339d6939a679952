/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.io.Serializable;

/**
 * Distinguishes readings of a partition's rows: counts, and 64-bit hashes of the bits used in the
 * computation, in the order of the rows, with ascending indices and weighted values and right-hand
 * sides. Details without influence on the result are left out: rows of weight 0, stored zeros, the
 * order of a row's entries. Two different readings have equal hashes with a probability of about
 * 2^-64; there is no protection against an adversary. Costs about 1 ns per entry and 5 ns per row.
 *
 * @param rows of positive weight
 * @param nonzeros their entries that are not 0
 * @param entries hash of their indices and values
 * @param weights hash of their weights
 * @param labels hash of their right-hand sides
 * @param unordered sum over the rows of a hash of all these, independent of the order of the rows
 */
public record Fingerprint(
    long rows, long nonzeros, long entries, long weights, long labels, long unordered)
    implements Serializable {

  // Odd: digits of the golden ratio, then a constant of splitmix64 (Steele, Lea, Flood 2014).
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long FACTOR = 0xBF58476D1CE4E5B9L;
  private static final long OTHER = 0x94D049BB133111EBL;

  /**
   * A hash of a row's entries [0, count): a sum over pairs of entries, so that no multiplication
   * depends on the one before.
   */
  private static long row(int[] index, double[] value, int count) {
    long sum = count;
    int last = count - 1;
    for (int k = 0; k < last; k += 2) {
      long columns = ((long) index[k] << 32 | index[k + 1]) * GOLDEN;
      sum += fold(bits(value[k]) ^ columns, bits(value[k + 1]) ^ FACTOR);
    }
    return (count & 1) == 0 ? sum : sum + fold(bits(value[last]) ^ OTHER, index[last] ^ FACTOR);
  }

  private static long bits(double value) {
    return Double.doubleToRawLongBits(value);
  }

  /** Both halves of the 128-bit product combined: every bit depends on all of a and b. */
  private static long fold(long a, long b) {
    return a * b ^ Math.multiplyHigh(a, b);
  }

  /**
   * {@link #weights} updated by the weight of row number {@code row}; a weight of 1 leaves it
   * unchanged.
   */
  public static long withWeight(long weights, long row, double weight) {
    return weight == 1 ? weights : mix(weights ^ row, bits(weight));
  }

  /** A bijection in either argument. */
  private static long mix(long h, long x) {
    long m = (h ^ x) * FACTOR;
    return m ^ m >>> 32;
  }

  /**
   * The sum of two parts: counts and {@link #unordered}. The hashes that depend on the order are
   * set to 0, so that sums are equal for any partitioning.
   */
  public Fingerprint plus(Fingerprint other) {
    return new Fingerprint(
        rows + other.rows, nonzeros + other.nonzeros, 0, 0, 0, unordered + other.unordered);
  }

  /** The fingerprint of no rows, at which sums start. */
  public static Fingerprint ofNothing() {
    return new Fingerprint(0, 0, 0, 0, 0, 0);
  }

  /** Accumulates rows one after the other. Not thread-safe. */
  public static final class Builder {
    private long rows;
    private long nonzeros;
    private long entries = GOLDEN;
    private long weights;
    private long labels = GOLDEN;
    private long unordered;

    /**
     * Adds a row of positive weight.
     *
     * @param index of entries [0, count), ascending
     * @param value nonzero values of these entries
     */
    public void add(int[] index, double[] value, int count, double weight, double[] label) {
      long row = row(index, value, count);
      long b = label.length == 1 ? bits(label[0]) : labels(label);
      rows++;
      nonzeros += count;
      entries = mix(entries, row);
      weights = withWeight(weights, rows, weight);
      labels = mix(labels, b);
      unordered += fold(row ^ OTHER, b + bits(weight) ^ FACTOR);
    }

    private static long labels(double[] label) {
      long h = OTHER;
      for (double v : label) {
        h = mix(h, bits(v));
      }
      return h;
    }

    /** The fingerprint of the rows so far. */
    public Fingerprint fingerprint() {
      return new Fingerprint(rows, nonzeros, entries, weights, labels, unordered);
    }
  }
}
