/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Numeric multifrontal QR: the types shared by all backends. */
@NullMarked
package io.sparqr.numeric;

import org.jspecify.annotations.NullMarked;
