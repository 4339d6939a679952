/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * What is counted for people to look at, which feeds back into no result, and what executors say of
 * themselves when they start, which only the cut of the tree hears.
 */
package io.sparqr.spark.metrics;
