/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * What comes into a front and where it goes there: rows by front, the staircase, maps of the
 * children's contribution blocks. The same for every backend; backends write the values there, each
 * in its way. {@code HeathFactorizer} does without on purpose: it is what backends are held
 * against.
 */
package io.sparqr.numeric.assembly;
