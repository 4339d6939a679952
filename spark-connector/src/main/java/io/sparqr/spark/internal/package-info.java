/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The pipeline; may change without notice. */
package io.sparqr.spark.internal;
