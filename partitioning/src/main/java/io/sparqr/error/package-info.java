/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Every error that Sparqr reports, under one sealed root. */
@NullMarked
package io.sparqr.error;

import org.jspecify.annotations.NullMarked;
