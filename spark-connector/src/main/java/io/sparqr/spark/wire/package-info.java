/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Compact checksummed binary forms of what travels. */
package io.sparqr.spark.wire;
