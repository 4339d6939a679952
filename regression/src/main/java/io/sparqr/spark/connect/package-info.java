/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Sparqr for clients of Spark Connect, which can use only the server's Spark ML stages: functions
 * that are not stages elsewhere are wrapped as stages here.
 */
@NullMarked
package io.sparqr.spark.connect;

import org.jspecify.annotations.NullMarked;
