/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The bucket scheduler and the task lists; no CUDA. */
@NullMarked
package io.sparqr.backend.schedule;

import org.jspecify.annotations.NullMarked;
