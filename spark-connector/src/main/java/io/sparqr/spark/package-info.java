/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Distributed sparse least squares on Apache Spark. */
@NullMarked
package io.sparqr.spark;

import org.jspecify.annotations.NullMarked;
