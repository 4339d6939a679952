/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The condition of R with columns of norm 1.
 *
 * @param estimate of 1 / sigma_min, a few percent off from 1e5 on; below, ||R^-1 w|| for a random
 *     w, between it and sqrt(n) times it. NaN: not known
 * @param nearlyDependent columns that are nearly dependent on each other; original indices,
 *     ascending; none unless the estimate is beyond {@link RankReview#WARNED}
 */
public record Condition(double estimate, int[] nearlyDependent) implements Serializable {

  /** The words with which the warning about a large condition number begins. */
  public static final String WARNING = "condition estimate";

  /** Of a solve whose condition number has not been estimated. */
  public static final Condition UNKNOWN = new Condition(Double.NaN, new int[0]);

  /** The columns in words, after a colon; empty if there are none. */
  public String named() {
    return nearlyDependent.length == 0
        ? ""
        : Arrays.stream(nearlyDependent)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(", ", "; nearly dependent columns: ", ""));
  }

  /** What the user should know; empty for a condition that leaves x most of its digits. */
  public Optional<String> warning() {
    if (!(estimate > RankReview.WARNED)) {
      return Optional.empty();
    }
    return Optional.of(
        String.format(
            Locale.ROOT,
            WARNING + " %.1e: x may have lost %d of 16 digits%s",
            estimate,
            (int) Math.min(16, Math.round(Math.log10(estimate))),
            named()));
  }
}
