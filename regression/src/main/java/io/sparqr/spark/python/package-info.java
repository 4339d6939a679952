/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Support for the Python package beyond the Java API. */
package io.sparqr.spark.python;
