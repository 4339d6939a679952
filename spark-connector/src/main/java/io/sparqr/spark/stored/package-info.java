/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** R as it is stored and moved: chunks of fronts and their rows. */
@NullMarked
package io.sparqr.spark.stored;

import org.jspecify.annotations.NullMarked;
