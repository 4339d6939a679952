/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The backends' service interface and the choice between them. */
package io.sparqr.backend;
