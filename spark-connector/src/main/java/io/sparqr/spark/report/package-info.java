/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What a solve says: its solution, its report as text, JSON and page, its progress. */
@NullMarked
package io.sparqr.spark.report;

import org.jspecify.annotations.NullMarked;
