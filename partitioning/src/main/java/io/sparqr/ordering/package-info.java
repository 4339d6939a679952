/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Fill-reducing column orders. */
package io.sparqr.ordering;
