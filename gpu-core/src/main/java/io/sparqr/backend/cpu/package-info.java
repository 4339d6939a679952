/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Fronts by BLAS and LAPACK on the host. */
package io.sparqr.backend.cpu;
