/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The backends' service interface and the choice of a backend. */
@NullMarked
package io.sparqr.backend;

import org.jspecify.annotations.NullMarked;
