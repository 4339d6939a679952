/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What the cluster has, and who may use which device. */
package io.sparqr.spark.resource;
