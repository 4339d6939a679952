/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The resources of the cluster, and the assignment of devices to tasks. */
package io.sparqr.spark.resource;
