/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Compact binary forms, with checksums, of all transferred data. */
@NullMarked
package io.sparqr.spark.wire;

import org.jspecify.annotations.NullMarked;
