/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Data tables from files: CSV as people write it. {@link io.sparqr.spark.table.TableReader} lists
 * the files, finds their dialect from the first bytes, cuts them into pieces at the ends of
 * records, takes a profile of every column over all rows, decides the types from it, and returns a
 * Dataset that parses the pieces by these types, with notes on every decision that was not asked
 * for. The executors read; the driver holds the first megabyte and the profiles.
 */
@NullMarked
package io.sparqr.spark.table;

import org.jspecify.annotations.NullMarked;
