/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Every error that Sparqr reports, under one sealed root. */
package io.sparqr.error;
