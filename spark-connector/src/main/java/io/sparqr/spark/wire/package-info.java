/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Compact binary forms, with checksums, of all transferred data. */
package io.sparqr.spark.wire;
