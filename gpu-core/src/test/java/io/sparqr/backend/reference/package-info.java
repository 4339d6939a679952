/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The specification in plain Java: every task of a list, and Heath's method front by front.
 * Single-threaded and straightforward, never optimised.
 */
package io.sparqr.backend.reference;
