/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory for the rows of R outside the heap, under a budget of the JVM, and in files beyond it. Of
 * this module it knows only the interface of such memory.
 */
package io.sparqr.numeric.storage;
