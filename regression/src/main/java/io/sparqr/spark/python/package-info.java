/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Support for the Python package beyond the Java API. */
@NullMarked
package io.sparqr.spark.python;

import org.jspecify.annotations.NullMarked;
