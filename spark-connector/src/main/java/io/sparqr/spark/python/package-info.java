/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What the Python package needs of the JVM beyond the Java API. */
package io.sparqr.spark.python;
