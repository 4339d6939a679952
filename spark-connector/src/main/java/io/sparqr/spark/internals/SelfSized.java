/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import org.apache.spark.util.KnownSizeEstimation;

/**
 * An object that tells Spark its size when it is stored as a block; Spark would otherwise walk
 * through all that it refers to. {@code estimatedSize()}: bytes of heap for which it counts.
 */
public interface SelfSized extends KnownSizeEstimation {}
