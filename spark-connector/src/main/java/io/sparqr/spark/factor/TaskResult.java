/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.Iterator;
import java.util.List;

/**
 * What a subtree task has made.
 *
 * @param passed for the tasks above: contribution blocks ({@link BlockCodec}), or the rows that
 *     replace some ({@link RowBatchCodec})
 * @param kept what stays of the factorization; rows of R as frames are encoded when they are asked
 *     for
 * @param told what the driver is to know at once: the report or the refusal, then x at the task's
 *     pivots, if it has solved
 */
record TaskResult(List<byte[]> passed, Iterator<TaskOutput> kept, List<byte[]> told) {}
