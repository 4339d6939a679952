/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops, units that wait for each other, and helpers on host threads; results never depend on how
 * many there are.
 */
package io.sparqr.threads;
