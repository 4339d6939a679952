/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The specification in plain Java: what every task of a list means, and Heath's method front by
 * front. Single-threaded and obvious, never optimised.
 */
package io.sparqr.backend.reference;
