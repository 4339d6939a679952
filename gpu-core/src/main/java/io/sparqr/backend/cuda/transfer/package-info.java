/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Ways of values, task lists and rows between the heap and the device. */
@NullMarked
package io.sparqr.backend.cuda.transfer;

import org.jspecify.annotations.NullMarked;
