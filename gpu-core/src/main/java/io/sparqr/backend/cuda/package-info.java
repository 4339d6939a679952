/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The CUDA backend; the only package that imports jcuda. */
package io.sparqr.backend.cuda;
