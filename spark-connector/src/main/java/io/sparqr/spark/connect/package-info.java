/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Sparqr for clients of Spark Connect, which reach the server's Spark ML stages and nothing else:
 * what is no stage by itself, as one.
 */
package io.sparqr.spark.connect;
