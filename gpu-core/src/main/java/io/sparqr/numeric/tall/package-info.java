/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** R of a dense tall matrix by any backend. */
@NullMarked
package io.sparqr.numeric.tall;

import org.jspecify.annotations.NullMarked;
