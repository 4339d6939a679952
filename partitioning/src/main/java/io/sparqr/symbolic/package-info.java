/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The symbolic analysis: from a pattern and an order to the tree of fronts. */
@NullMarked
package io.sparqr.symbolic;

import org.jspecify.annotations.NullMarked;
