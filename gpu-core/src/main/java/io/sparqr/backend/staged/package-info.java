/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * A subtree task on an executor of task lists: memory stages, uploads and downloads, the checks of
 * a stage, fronts with dead columns. Values are handled here; the lists come from {@link
 * io.sparqr.backend.schedule}.
 */
@NullMarked
package io.sparqr.backend.staged;

import org.jspecify.annotations.NullMarked;
