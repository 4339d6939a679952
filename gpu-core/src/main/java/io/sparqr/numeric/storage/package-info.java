/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory for the rows of R outside the heap, under a budget of the JVM, and in files beyond it; and
 * rows that come there later, from where they were made. How they are computed it does not know.
 */
@NullMarked
package io.sparqr.numeric.storage;

import org.jspecify.annotations.NullMarked;
