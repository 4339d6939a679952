/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The diagonal of (A'A)^-1 from R: a square root of the selected inverse from the top of the tree
 * down, singletons by their rows. An internal package of the connector, not for callers; it may
 * change without notice.
 */
@NullMarked
package io.sparqr.spark.inverse;

import org.jspecify.annotations.NullMarked;
