/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What is counted for people to look at: nothing here feeds back into a result. */
package io.sparqr.spark.metrics;
