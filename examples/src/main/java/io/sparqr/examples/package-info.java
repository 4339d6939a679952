/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * One main class for each idea, from simple to hard. Each names the one that it builds on, prints
 * what it does, checks its own answer, and ends with exit code 1 if that is wrong:
 *
 * <ol>
 *   <li>{@link io.sparqr.examples.HelloLeastSquares} a line through points
 *   <li>{@link io.sparqr.examples.WeightedRidge} weights and a ridge
 *   <li>{@link io.sparqr.examples.SeveralRightHandSides} one matrix, several labels
 *   <li>{@link io.sparqr.examples.OneHotRegression} categories from a DataFrame
 *   <li>{@link io.sparqr.examples.MlRegression} the same in a Spark ML pipeline, standard errors
 *   <li>{@link io.sparqr.examples.RankDeficient} columns that depend on others
 *   <li>{@link io.sparqr.examples.RefitWithNewLabels} factorize once, solve again
 *   <li>{@link io.sparqr.examples.WagesOfWorkersAndFirms} two-way effects: clustered errors, the
 *       firms' part of the variance
 *   <li>{@link io.sparqr.examples.WagesByFormula} the same from a DataFrame by a formula, effects
 *       absorbed
 *   <li>{@link io.sparqr.examples.DemandRidgePath} interactions and a ridge path
 *   <li>{@link io.sparqr.examples.ErrorEllipses} a geodetic network, its datum and error ellipses
 *   <li>{@link io.sparqr.examples.NightlyAppend} new rows on last night's R, saved and loaded
 *   <li>{@link io.sparqr.examples.BackgroundSubtraction} background and figures of a film, by
 *       Robust PCA
 *   <li>{@link io.sparqr.examples.AnalyzeBeforeYouFactor} the cost before the work
 * </ol>
 */
package io.sparqr.examples;
