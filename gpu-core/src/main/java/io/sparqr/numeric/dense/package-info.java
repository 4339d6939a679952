/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Dense staircase QR on the host, column-major in Java arrays: what the CPU backend and the
 * map-side reduction share. Knows nothing of fronts, trees or backends, and imports only
 * io.sparqr.error.
 */
package io.sparqr.numeric.dense;
