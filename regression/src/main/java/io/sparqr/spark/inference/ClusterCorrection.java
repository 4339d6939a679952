/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * The small-sample corrections of cluster-robust covariances, and the degrees of freedom for each,
 * with n observations, G clusters in one way of clustering, k parameters and rank p.
 *
 * <ul>
 *   <li>{@link #none()}: the plain sums; t has n - p degrees of freedom.
 *   <li>{@link #sandwichHc0()}: the sum of each way times its G / (G - 1), as by {@code
 *       sandwich::vcovCL(type = "HC0", cadjust = TRUE)}; n - p.
 *   <li>{@link #sandwich()}: the same times (n - 1) / (n - k), which is the default of {@code
 *       vcovCL} for {@code lm} (type HC1); n - p.
 *   <li>{@link #fixest()}: (n - 1) / (n - k) and, for all ways, the G / (G - 1) of the way with the
 *       fewest clusters; t with that G - 1, as by {@code fixest}'s {@code ssc(adj = TRUE,
 *       cluster.adj = TRUE, cluster.df = "min", t.df = "min")}. Its k leaves out fixed effects
 *       nested in the clusters (fixef.K = "nested"); {@link #fixest(long)} accepts such a k.
 * </ul>
 *
 * @param name for display
 * @param adjusted whether the factor G / (G - 1) applies
 * @param least whether the G of the fewest clusters applies to all ways, and to the test
 * @param sized whether the factor (n - 1) / (n - k) applies
 * @param parameters k; -1: the rank, as the factory methods without a number have it. A number
 *     because a correction is serializable, which an optional is not
 */
public record ClusterCorrection(
    String name, boolean adjusted, boolean least, boolean sized, long parameters)
    implements Serializable {

  /** No correction. */
  public static ClusterCorrection none() {
    return new ClusterCorrection("no correction", false, false, false, -1);
  }

  /** G / (G - 1). */
  public static ClusterCorrection sandwichHc0() {
    return new ClusterCorrection("sandwich, type HC0, cadjust", true, false, false, -1);
  }

  /** G / (G - 1) (n - 1) / (n - k). */
  public static ClusterCorrection sandwich() {
    return new ClusterCorrection("sandwich, type HC1, cadjust", true, false, true, -1);
  }

  /** min G / (min G - 1) (n - 1) / (n - rank), t with min G - 1. */
  public static ClusterCorrection fixest() {
    return new ClusterCorrection("fixest, ssc(fixef.K = \"full\")", true, true, true, -1);
  }

  /** A copy with another number of parameters. */
  public static ClusterCorrection fixest(long parameters) {
    return new ClusterCorrection("fixest, ssc, k = " + parameters, true, true, true, parameters);
  }

  /** The factor for the sum of one way. */
  double factor(long clusters, long fewest, long observations, int rank) {
    double factor = 1;
    if (adjusted) {
      double g = least ? fewest : clusters;
      factor = g / (g - 1);
    }
    if (sized) {
      double k = parameters < 0 ? rank : parameters;
      factor *= (observations - 1) / (observations - k);
    }
    return factor;
  }

  double degreesOfFreedom(long fewest, long freedom) {
    return least ? fewest - 1 : freedom;
  }
}
