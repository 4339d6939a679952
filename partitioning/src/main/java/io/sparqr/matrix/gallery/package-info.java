/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Generated problems, by a specification such as {@code gen:cells2d60}. In the lowest module,
 * though only later ones read such names: its tests and those of the numeric core take their
 * problems from here, and no module can depend on the test jar of one that depends on it.
 */
@NullMarked
package io.sparqr.matrix.gallery;

import org.jspecify.annotations.NullMarked;
