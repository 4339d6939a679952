/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Generated problems, by a specification such as {@code gen:cells2d60}. */
@NullMarked
package io.sparqr.matrix.gallery;

import org.jspecify.annotations.NullMarked;
