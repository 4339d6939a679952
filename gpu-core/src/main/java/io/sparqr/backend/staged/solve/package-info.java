/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Triangular solves inside a stage, as lists of items over its fronts. */
@NullMarked
package io.sparqr.backend.staged.solve;

import org.jspecify.annotations.NullMarked;
