/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The search for the tuning of a device: what is tried in which time, and what is accepted.
 * Measures nothing itself.
 */
@NullMarked
package io.sparqr.backend.tuning;

import org.jspecify.annotations.NullMarked;
