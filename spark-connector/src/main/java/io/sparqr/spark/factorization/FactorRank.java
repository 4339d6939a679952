/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.condition.ColumnSizes;
import io.sparqr.spark.condition.Condition;
import io.sparqr.spark.condition.RankRequest;

/**
 * How far the rank was looked at.
 *
 * @param request what the factorization that stands was asked
 * @param condition of its R
 * @param sizes of its columns
 */
public record FactorRank(RankRequest request, Condition condition, ColumnSizes sizes) {}
