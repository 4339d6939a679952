/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The CUDA backend; JCuda is called in its package driver alone. The path of a task: {@link
 * io.sparqr.backend.cuda.CudaBackendProvider} (is there a device?), {@link
 * io.sparqr.backend.cuda.CudaSubtreeFactorizer}, {@link
 * io.sparqr.backend.staged.StagedFactorization}, and {@code CudaRoundExecutor}, which uploads,
 * launches many rounds at once, with tasks that wait for their dependencies, and downloads the
 * rows. All driver calls go through {@code CudaDriver}, whose {@code CudaCalls} tests replace.
 */
@NullMarked
package io.sparqr.backend.cuda;

import org.jspecify.annotations.NullMarked;
