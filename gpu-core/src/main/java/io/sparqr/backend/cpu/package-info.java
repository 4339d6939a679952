/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Fronts by BLAS on the host. */
@NullMarked
package io.sparqr.backend.cpu;

import org.jspecify.annotations.NullMarked;
