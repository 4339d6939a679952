/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */

/**
 * Random regressions by formula, by every way in, held against dense algebra with 32 digits: {@link
 * io.sparqr.campaign.regression.RegressionCampaign}.
 *
 * <ol>
 *   <li>{@link io.sparqr.campaign.regression.CaseGenerator}: seeded cases, from {@link
 *       io.sparqr.campaign.regression.TermKind} and the other kinds
 *   <li>{@link io.sparqr.campaign.regression.RegressionCase}: data, formula as a tree, options
 *   <li>{@link io.sparqr.campaign.regression.TermList}, {@link
 *       io.sparqr.campaign.regression.ModelMatrix}: terms and columns as R makes them, without the
 *       product's parser
 *   <li>{@link io.sparqr.campaign.regression.DenseFit}, {@link
 *       io.sparqr.campaign.regression.Covariance}, {@link
 *       io.sparqr.campaign.regression.DenseRidge}: the figures, in {@link
 *       io.sparqr.campaign.regression.DoubleDouble}
 *   <li>{@link io.sparqr.campaign.regression.Oracle}: what is right, as {@link
 *       io.sparqr.campaign.regression.Expected} with the tolerance of each figure
 *   <li>{@link io.sparqr.campaign.regression.RegressionWay}: the estimator, the command line; for
 *       Python {@link io.sparqr.campaign.regression.CaseFiles}
 *   <li>{@link io.sparqr.campaign.regression.Comparison}, {@link
 *       io.sparqr.campaign.regression.RegressionTally}: what disagrees, by kind
 * </ol>
 */
package io.sparqr.campaign.regression;
