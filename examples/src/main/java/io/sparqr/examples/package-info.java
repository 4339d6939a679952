/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** One main class per idea. */
package io.sparqr.examples;
