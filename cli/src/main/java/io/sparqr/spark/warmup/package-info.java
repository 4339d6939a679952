/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The warm-up of a JVM: small problems solved in the background at the start of an application. Not
 * for callers except {@link io.sparqr.spark.warmup.Warmup#begin}, which the Python package calls.
 */
package io.sparqr.spark.warmup;
