/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.List;
import java.util.Map;

/**
 * What is asked for beside the formula.
 *
 * @param weights column; empty: none
 * @param offset column; empty: none
 * @param clusters columns; empty: none
 * @param errors iid, HC0 to HC3 or cluster
 * @param correction of clustered errors; empty: the default
 * @param categorical columns of numbers that are factors in the terms
 * @param references levels by column
 * @param keep names of coefficients to keep
 * @param drop names of coefficients to drop first
 * @param ridge regParam
 * @param skip whether rows that lack a value are left out, or must not be there
 */
record RegressionOptions(
    String weights,
    String offset,
    List<String> clusters,
    String errors,
    String correction,
    List<String> categorical,
    Map<String, String> references,
    List<String> keep,
    List<String> drop,
    double ridge,
    boolean skip) {

  static final String CLUSTER = "cluster";

  static RegressionOptions plain() {
    return new RegressionOptions(
        "", "", List.of(), "iid", "", List.of(), Map.of(), List.of(), List.of(), 0, false);
  }

  RegressionOptions withWeights(String column) {
    return new RegressionOptions(
        column,
        offset,
        clusters,
        errors,
        correction,
        categorical,
        references,
        keep,
        drop,
        ridge,
        skip);
  }

  RegressionOptions withOffset(String column) {
    return new RegressionOptions(
        weights,
        column,
        clusters,
        errors,
        correction,
        categorical,
        references,
        keep,
        drop,
        ridge,
        skip);
  }

  RegressionOptions withErrors(String name) {
    return new RegressionOptions(
        weights, offset, List.of(), name, "", categorical, references, keep, drop, ridge, skip);
  }

  RegressionOptions withClusters(List<String> columns, String how) {
    return new RegressionOptions(
        weights, offset, columns, CLUSTER, how, categorical, references, keep, drop, ridge, skip);
  }

  RegressionOptions withCategorical(List<String> columns) {
    return new RegressionOptions(
        weights,
        offset,
        clusters,
        errors,
        correction,
        columns,
        references,
        keep,
        drop,
        ridge,
        skip);
  }

  RegressionOptions withReferences(Map<String, String> levels) {
    return new RegressionOptions(
        weights,
        offset,
        clusters,
        errors,
        correction,
        categorical,
        levels,
        keep,
        drop,
        ridge,
        skip);
  }

  RegressionOptions withPriority(List<String> first, List<String> last) {
    return new RegressionOptions(
        weights,
        offset,
        clusters,
        errors,
        correction,
        categorical,
        references,
        first,
        last,
        ridge,
        skip);
  }

  RegressionOptions withRidge(double parameter) {
    return new RegressionOptions(
        weights,
        offset,
        clusters,
        errors,
        correction,
        categorical,
        references,
        keep,
        drop,
        parameter,
        skip);
  }

  RegressionOptions skipping() {
    return new RegressionOptions(
        weights,
        offset,
        clusters,
        errors,
        correction,
        categorical,
        references,
        keep,
        drop,
        ridge,
        true);
  }
}
