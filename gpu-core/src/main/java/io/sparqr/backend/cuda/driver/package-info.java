/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The CUDA driver, one class for each thing it hands out; only here is jcuda called. */
@NullMarked
package io.sparqr.backend.cuda.driver;

import org.jspecify.annotations.NullMarked;
