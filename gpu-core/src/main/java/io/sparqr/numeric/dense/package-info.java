/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Dense staircase QR on the host, column-major in Java arrays: shared by the CPU backend and the
 * map-side reduction. Independent of fronts, trees and backends; imports only io.sparqr.error.
 */
@NullMarked
package io.sparqr.numeric.dense;

import org.jspecify.annotations.NullMarked;
