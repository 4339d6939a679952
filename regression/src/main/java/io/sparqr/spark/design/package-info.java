/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * From a Dataset to the rows of a design matrix with names: a formula in the syntax of R's {@code
 * lm}, or a list of columns; factors directly, with one column per level, without intermediate
 * vectors.
 *
 * <p>Data flow: {@link io.sparqr.spark.design.formula.Formula}, made concrete by {@link
 * io.sparqr.spark.design.DesignOptions} and the schema; one pass to collect the levels; {@link
 * io.sparqr.spark.design.Design}, which holds the names of all columns and returns the rows as an
 * RDD of {@link io.sparqr.spark.model.SparseRow}, read from Spark's internal rows without a copy.
 *
 * <p>May use the packages of rows and their dependencies, but neither the estimator nor the solver.
 */
@NullMarked
package io.sparqr.spark.design;

import org.jspecify.annotations.NullMarked;
