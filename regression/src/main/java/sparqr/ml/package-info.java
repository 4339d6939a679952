/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The stages of {@code io.sparqr.spark.ml} under the full names of their Python classes, by which
 * PySpark finds these. For PySpark alone; Java and Scala use {@code io.sparqr.spark.ml}.
 */
@NullMarked
package sparqr.ml;

import org.jspecify.annotations.NullMarked;
