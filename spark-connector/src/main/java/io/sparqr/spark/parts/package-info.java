/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Distributed collections whose passes are written once, for Spark and for this JVM alone. */
@NullMarked
package io.sparqr.spark.parts;

import org.jspecify.annotations.NullMarked;
