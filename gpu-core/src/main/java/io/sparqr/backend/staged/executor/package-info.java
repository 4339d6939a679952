/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What runs the rounds of a stage, as the stage sees it. */
@NullMarked
package io.sparqr.backend.staged.executor;

import org.jspecify.annotations.NullMarked;
