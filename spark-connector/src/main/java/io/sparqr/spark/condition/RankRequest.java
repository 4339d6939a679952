/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import java.util.OptionalDouble;

/**
 * What a factorization is asked to do about its rank, beyond the options.
 *
 * @param last columns that are ordered last because singular values have shown them to depend on
 *     others to rounding; original indices, in the order in which they were found
 * @param tolerance of the pivot test in place of the default one; empty: that
 * @param leftOut the largest singular value that these columns stand for; 0 without them
 * @param shrink power of two by which these columns are scaled down below norm 1, so that their
 *     remainders, which no gap separates from those of other columns, are below the tolerance
 * @param round factorizations before this one
 */
public record RankRequest(
    int[] last, OptionalDouble tolerance, double leftOut, double shrink, int round) {

  /** The first factorization. */
  public static final RankRequest FIRST =
      new RankRequest(new int[0], OptionalDouble.empty(), 0, 1, 0);

  /** Whether the review of an earlier factorization has led to this one. */
  public boolean reviewed() {
    return round > 0;
  }

  /** All columns stay, for a look at all singular values. */
  RankRequest search() {
    return new RankRequest(last, OptionalDouble.of(RankReview.NONE_DROPPED), leftOut, 1, round + 1);
  }

  /** More columns last, with the default tolerance. */
  RankRequest withLast(int[] columns, double largest) {
    return new RankRequest(columns, tolerance, Math.max(leftOut, largest), 1, round + 1);
  }

  /** Other columns last, which no gap separates from the others. */
  RankRequest withLast(int[] columns, double largest, double level, double scale) {
    return new RankRequest(columns, OptionalDouble.of(level), largest, scale, round + 1);
  }

  /** The pivot test alone, and no more reviews. */
  RankRequest givenUp() {
    return new RankRequest(new int[0], OptionalDouble.empty(), 0, 1, RankReview.MOST_ROUNDS);
  }
}
