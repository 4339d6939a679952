/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.util.List;

/**
 * What the tasks of a pass have found: the figures of each partition, and their tables, which are
 * fetched when they are asked for.
 *
 * @param <F> figures
 * @param <V> table
 */
public interface Gathered<F, V> {

  /** The figures in the order of the partitions. */
  List<F> figures();

  /**
   * What is known of the merged tables before they are fetched; nothing if they are here, as they
   * are.
   */
  <C extends Record> List<C> counts(Class<C> type);

  /** Bytes that went through a shuffle. */
  long shuffleBytes();

  /** Bytes of the merged frames. */
  long payload();

  /**
   * The tables, in the order of the partitions; or else one, with every part of it merged from all
   * partitions in their order. Taken once.
   */
  List<V> tables();

  /** The same by other pieces: of less than was sent. */
  List<V> tables(Pieces<V> pieces);

  /**
   * All frames by key, figures among them; not computed again as long as the shuffle's output
   * exists.
   *
   * @throws IllegalStateException if the tables are here
   */
  Parts<scala.Tuple2<Integer, byte[]>> sent();
}
