/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Loops and helpers on host threads; results never depend on how many there are. */
package io.sparqr.threads;
