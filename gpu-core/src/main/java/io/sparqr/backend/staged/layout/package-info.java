/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What a stage needs to know before it begins: where values and blocks lie, and what it takes. */
@NullMarked
package io.sparqr.backend.staged.layout;

import org.jspecify.annotations.NullMarked;
