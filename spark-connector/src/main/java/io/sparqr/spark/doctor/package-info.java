/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * What on the driver's and the executors' machines makes a solve fail or slow: one class a check,
 * run in every JVM, and those that compare the JVMs.
 */
@NullMarked
package io.sparqr.spark.doctor;

import org.jspecify.annotations.NullMarked;
