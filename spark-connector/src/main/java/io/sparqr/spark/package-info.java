/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Distributed sparse least squares on Apache Spark. */
package io.sparqr.spark;
