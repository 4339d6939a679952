/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** What the cluster has: executors, cores, GPUs, memory, and the rates by which work is planned. */
@NullMarked
package io.sparqr.spark.cluster;

import org.jspecify.annotations.NullMarked;
