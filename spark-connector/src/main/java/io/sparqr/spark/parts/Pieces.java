/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * How tables travel where they cannot come to the driver as they are: cut by key into frames, of
 * any kind but {@link io.sparqr.spark.wire.Frame.Kind#OBJECT}. All frames with a key are merged by
 * one task, and no others have to do with them.
 *
 * @param <V> table
 */
public interface Pieces<V> extends Serializable {

  /** Bytes of a table, about. */
  long bytes(V table);

  /**
   * Cuts a table.
   *
   * @param keys number of keys
   * @param out receives keys and frames
   */
  void cut(int partition, V table, int keys, BiConsumer<Integer, byte[]> out);

  /** Merges the frames of one key. */
  Merging merging();

  /**
   * The table of the merged frames of all keys.
   *
   * @param frames each may be replaced by null once it is decoded
   */
  V table(List<byte[]> frames);

  /** Merges frames that come in any order; to the bits it is as if they came by partition. */
  interface Merging {

    /** Takes a frame of a partition. */
    void add(byte[] frame);

    /** What the driver needs to know before it asks for the frames. */
    default Optional<Record> counts() {
      return Optional.empty();
    }

    /** The merged frames; the last call. */
    List<byte[]> frames(int key);
  }
}
