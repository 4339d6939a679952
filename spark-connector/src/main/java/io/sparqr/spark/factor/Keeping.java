/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import java.io.Serializable;

/**
 * What a task leaves of its factorization.
 *
 * @param framed whether R is to be stored as frames, for a storage level that keeps bytes
 * @param solution null: R; otherwise only x, found this way
 * @param resident the factorization under which R also stays on the device; null: it does not
 */
record Keeping(boolean framed, TaskSolution solution, String resident) implements Serializable {}
