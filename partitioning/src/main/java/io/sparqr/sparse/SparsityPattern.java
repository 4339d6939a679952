/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import java.io.Serializable;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Nonzero pattern of an m x n matrix as DISTINCT row patterns with their multiplicities: the only
 * input of ordering and symbolic analysis. Row pattern p has the column indices {@code
 * columnIndex[rowStart[p] .. rowStart[p+1])}, strictly ascending, and stands for {@code
 * multiplicity[p]} rows of A. Empty rows are legal. Immutable by contract: the arrays are shared,
 * not copied, and must not be written to.
 *
 * @param columns n
 * @param rowStart size patterns+1; offsets into columnIndex
 * @param columnIndex size rowStart[patterns]; column indices in [0, n), ascending in each row
 * @param multiplicity size patterns; rows of A with the pattern, at least 1
 */
public record SparsityPattern(int columns, long[] rowStart, int[] columnIndex, long[] multiplicity)
    implements Serializable {

  /** Row patterns per piece of parallel work. */
  private static final int PIECE = 1 << 15;

  /** Checks sizes in O(1); see {@link #validate()} for the indices. */
  public SparsityPattern {
    Objects.requireNonNull(rowStart, "rowStart");
    Objects.requireNonNull(columnIndex, "columnIndex");
    Objects.requireNonNull(multiplicity, "multiplicity");
    if (columns < 0 || rowStart.length != multiplicity.length + 1 || rowStart[0] != 0) {
      throw new IllegalArgumentException("inconsistent sizes of a sparsity pattern");
    }
    if (rowStart[multiplicity.length] != columnIndex.length) {
      throw new IllegalArgumentException(
          "rowStart ends at "
              + rowStart[multiplicity.length]
              + ", columnIndex has "
              + columnIndex.length
              + " entries");
    }
  }

  /** Number of distinct row patterns. */
  public int patterns() {
    return multiplicity.length;
  }

  /** m, the number of rows of A: the sum of the multiplicities. O(patterns). */
  public long rows() {
    long m = 0;
    for (long k : multiplicity) {
      m = Math.addExact(m, k);
    }
    return m;
  }

  /** Entries of the distinct patterns. */
  public long patternEntries() {
    return columnIndex.length;
  }

  /** Entries of A: pattern lengths times multiplicities. O(patterns). */
  public long nonzeros() {
    long nz = 0;
    for (int p = 0; p < multiplicity.length; p++) {
      nz = Math.addExact(nz, Math.multiplyExact(rowStart[p + 1] - rowStart[p], multiplicity[p]));
    }
    return nz;
  }

  /**
   * Checks every index and multiplicity. O(entries).
   *
   * @throws IllegalArgumentException if an index is out of range or not ascending, or a
   *     multiplicity is not positive
   */
  public SparsityPattern validate() {
    int bad =
        pieces()
            .map(i -> firstBad(i * PIECE, (int) Math.min(patterns(), (i + 1L) * PIECE)))
            .min()
            .orElse(patterns());
    if (bad < patterns()) {
      report(bad);
    }
    return this;
  }

  /** The numbers of the pieces of all patterns, in parallel. */
  private IntStream pieces() {
    return IntStream.range(0, (int) ((patterns() + PIECE - 1L) / PIECE)).parallel();
  }

  /** The first pattern of a range with an illegal index or multiplicity, n patterns if none. */
  private int firstBad(int from, int to) {
    for (int p = from; p < to; p++) {
      boolean good = multiplicity[p] >= 1;
      int last = -1;
      for (long k = rowStart[p]; k < rowStart[p + 1]; k++) {
        int j = columnIndex[(int) k];
        good &= j > last & j < columns;
        last = j;
      }
      if (!good) {
        return p;
      }
    }
    return patterns();
  }

  private void report(int p) {
    if (multiplicity[p] < 1) {
      throw new IllegalArgumentException(
          "multiplicity " + multiplicity[p] + " of row pattern " + p);
    }
    int last = -1;
    for (long k = rowStart[p]; k < rowStart[p + 1]; k++) {
      int j = columnIndex[(int) k];
      if (j <= last || j >= columns) {
        throw new IllegalArgumentException(
            "column index " + j + " of row pattern " + p + " out of order or out of range");
      }
      last = j;
    }
  }

  /**
   * A hash that does not depend on the order of the rows: equal for equal patterns; different
   * patterns collide with a probability of about 2^-128.
   */
  public record Fingerprint(int columns, long rows, long first, long second)
      implements Serializable {}

  /** The fingerprint: sums over the rows of two hashes of each row. O(entries). */
  public Fingerprint fingerprint() {
    var sum = new FingerprintSum();
    pieces()
        .mapToObj(i -> fingerprint(i * PIECE, (int) Math.min(patterns(), (i + 1L) * PIECE)))
        .forEachOrdered(sum::add);
    return sum.of(columns);
  }

  private Fingerprint fingerprint(int from, int to) {
    var sum = new FingerprintSum();
    for (int p = from; p < to; p++) {
      sum.add(columnIndex, (int) rowStart[p], (int) rowStart[p + 1], multiplicity[p]);
    }
    return sum.of(columns);
  }

  /** Accumulates a fingerprint from rows in any order and any number of parts. */
  public static final class FingerprintSum {
    private long rows;
    private long first;
    private long second;

    /** Starts without rows. */
    public FingerprintSum() {}

    /** Counts {@code times} rows with the columns [from, to) of an array. */
    public void add(int[] column, int from, int to, long times) {
      long a = 1;
      long b = 2;
      for (int k = from; k < to; k++) {
        a = mix(a * 31 + column[k]);
        b = mix(b ^ ((long) column[k] << 20));
      }
      rows += times;
      first += times * mix(a);
      second += times * mix(b);
    }

    /** Counts one row for each column that has no other entry: those of a ridge. */
    public void addColumns(int columns) {
      int[] column = new int[1];
      for (int j = 0; j < columns; j++) {
        column[0] = j;
        add(column, 0, 1, 1);
      }
    }

    /** Counts the rows of another part. */
    public void add(Fingerprint part) {
      rows += part.rows;
      first += part.first;
      second += part.second;
    }

    /** The fingerprint of all rows added, for a matrix of this many columns. */
    public Fingerprint of(int columns) {
      return new Fingerprint(columns, rows, first, second);
    }
  }

  /**
   * A bijection of 64 bits in which every bit depends on every other (SplitMix64's, Steele 2014).
   */
  private static long mix(long z) {
    long y = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    y = (y ^ (y >>> 27)) * 0x94d049bb133111ebL;
    return (y ^ (y >>> 31)) + 0x9e3779b97f4a7c15L;
  }
}
