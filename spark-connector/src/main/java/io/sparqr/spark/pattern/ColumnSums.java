/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.parts.Pieces;
import io.sparqr.spark.wire.VectorCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** Vectors over the columns that are added, in the order of the partitions: cut by chunk. */
public enum ColumnSums implements Pieces<ColumnChunks> {
  INSTANCE;

  @Override
  public long bytes(ColumnChunks vector) {
    return vector.bytes();
  }

  @Override
  public void cut(int partition, ColumnChunks vector, int keys, BiConsumer<Integer, byte[]> out) {
    var chunks = new ArrayList<byte[]>();
    vector.encode(partition, chunks);
    chunks.forEach(chunk -> out.accept(VectorCodec.chunk(chunk) % keys, chunk));
  }

  @Override
  public Merging merging() {
    var chunks = new ArrayList<byte[]>();
    return new Merging() {
      @Override
      public void add(byte[] frame) {
        chunks.add(frame);
      }

      @Override
      public List<byte[]> frames(int key) {
        var sum = new ArrayList<byte[]>();
        ColumnChunks.merge(chunks, Double::sum).encode(0, sum);
        return sum;
      }
    };
  }

  @Override
  public ColumnChunks table(List<byte[]> frames) {
    return ColumnChunks.merge(frames, Double::sum);
  }
}
