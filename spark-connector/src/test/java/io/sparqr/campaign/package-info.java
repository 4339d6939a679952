/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */

/**
 * Many small least-squares problems, each solved with many sets of options and held against exact
 * rational arithmetic and LAPACK's SVD: {@link io.sparqr.campaign.Campaign}; ranks of survey
 * networks and pose graphs: {@link io.sparqr.campaign.NetworkSurvey}.
 *
 * <ol>
 *   <li>{@link io.sparqr.campaign.Family}: seeded matrices of one kind
 *   <li>{@link io.sparqr.campaign.CampaignProblem}: one of them with right-hand sides
 *   <li>{@link io.sparqr.campaign.RankOracle}, {@link io.sparqr.campaign.ExactResidual}: the truth
 *   <li>{@link io.sparqr.campaign.OptionSet}: a way to solve it, with an {@link
 *       io.sparqr.campaign.Answer}
 *   <li>{@link io.sparqr.campaign.AnswerChecks}: what is wrong with an answer, as a {@link
 *       io.sparqr.campaign.Check}
 *   <li>{@link io.sparqr.campaign.CampaignTally}: counts, and the first cases of each kind
 * </ol>
 */
package io.sparqr.campaign;
