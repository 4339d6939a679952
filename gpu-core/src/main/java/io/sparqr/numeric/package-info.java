/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Numeric multifrontal QR: the types that every backend shares. */
package io.sparqr.numeric;
