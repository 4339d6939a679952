/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Products with Q and Q' of a front that has been factored, as lists of its bundles. */
@NullMarked
package io.sparqr.backend.staged.product;

import org.jspecify.annotations.NullMarked;
