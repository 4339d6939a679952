/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * From a Dataset to the rows of a design matrix with names: a formula as R's {@code lm} reads it,
 * or columns one by one; factors directly, each level one column, without vectors in between.
 *
 * <p>The way of the data: {@link io.sparqr.spark.design.Formula}, which {@link
 * io.sparqr.spark.design.DesignOptions} and the schema make concrete; one pass that collects the
 * levels; {@link io.sparqr.spark.design.Design}, which knows every column's name and gives the rows
 * as an RDD of {@link io.sparqr.spark.SparseRow}, read from Spark's internal rows without a copy.
 *
 * <p>Sees rows and what they stand on; knows neither the estimator nor the solver.
 */
package io.sparqr.spark.design;
