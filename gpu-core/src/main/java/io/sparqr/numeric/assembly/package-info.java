/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The inputs of a front and their places: rows by front, the staircase, maps of the children's
 * contribution blocks. The same for every backend; each backend writes the values in its own way.
 * {@code HeathFactorizer} deliberately does not use it, because backends are compared with it.
 */
@NullMarked
package io.sparqr.numeric.assembly;

import org.jspecify.annotations.NullMarked;
