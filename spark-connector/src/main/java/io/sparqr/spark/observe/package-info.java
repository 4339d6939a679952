/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Looks at a running solve: progress, times, profile, samples of fronts. */
@NullMarked
package io.sparqr.spark.observe;

import org.jspecify.annotations.NullMarked;
