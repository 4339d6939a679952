/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Fill-reducing column orders. */
@NullMarked
package io.sparqr.ordering;

import org.jspecify.annotations.NullMarked;
