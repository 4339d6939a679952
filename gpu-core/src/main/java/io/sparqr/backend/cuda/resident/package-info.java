/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What stays on the device after a stage: sessions, rows of R, lists to solve with them. */
@NullMarked
package io.sparqr.backend.cuda.resident;

import org.jspecify.annotations.NullMarked;
