/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops, units that wait for each other, and helpers on host threads; results never depend on their
 * number.
 */
@NullMarked
package io.sparqr.threads;

import org.jspecify.annotations.NullMarked;
