/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The cut of the assembly tree into subtree tasks and memory stages. */
@NullMarked
package io.sparqr.partition;

import org.jspecify.annotations.NullMarked;
