/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Which order a pattern gets: the method asked for, or the best of those worth their time. */
@NullMarked
package io.sparqr.ordering.choice;

import org.jspecify.annotations.NullMarked;
