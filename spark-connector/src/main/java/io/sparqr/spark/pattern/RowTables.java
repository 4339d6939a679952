/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.parts.Pieces;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.spark.wire.VectorCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * What a pattern pass finds in rows.
 *
 * @param patterns the distinct patterns; none if they are not told apart
 * @param norms of the columns
 */
record RowTables(List<DistinctPatterns> patterns, ColumnChunks norms) {

  /**
   * Sizes of distinct patterns.
   *
   * @param squares sum of their squared lengths
   */
  record Sizes(long patterns, long entries, double squares) implements Serializable {

    static final Sizes NONE = new Sizes(0, 0, 0);

    Sizes plus(Sizes other) {
      return new Sizes(patterns + other.patterns, entries + other.entries, squares + other.squares);
    }
  }

  /**
   * Cut by the patterns' hashes, so that equal patterns of different partitions meet, and by the
   * norms' chunks.
   *
   * @param told whether patterns are wanted
   */
  record ByHash(boolean told) implements Pieces<RowTables> {

    @Override
    public long bytes(RowTables table) {
      return table.norms.bytes() + table.patterns.stream().mapToLong(DistinctPatterns::bytes).sum();
    }

    @Override
    public void cut(int partition, RowTables table, int keys, BiConsumer<Integer, byte[]> out) {
      for (DistinctPatterns p : table.patterns) {
        p.cut(keys, (key, part) -> out.accept(key, PatternCodec.encode(partition, part)));
      }
      var norms = new ArrayList<byte[]>();
      table.norms.encode(partition, norms);
      norms.forEach(chunk -> out.accept(VectorCodec.chunk(chunk) % keys, chunk));
    }

    @Override
    public Merging merging() {
      return new Merged(told);
    }

    @Override
    public RowTables table(List<byte[]> frames) {
      var chunks = new ArrayList<byte[]>();
      frames.removeIf(f -> Frame.kind(f) == Frame.Kind.CHUNK && chunks.add(f));
      if (!told) {
        frames.clear();
      }
      return new RowTables(
          DistinctPatterns.decoded(frames, Runtime.getRuntime().availableProcessors()),
          ColumnChunks.merge(chunks, ChunkedColumnNorms::joined));
    }
  }

  private static final class Merged implements Pieces.Merging {

    private final boolean told;
    private final PatternTable table = new PatternTable();
    private final List<byte[]> norms = new ArrayList<>();

    Merged(boolean told) {
      this.told = told;
    }

    @Override
    public void add(byte[] frame) {
      if (Frame.kind(frame) == Frame.Kind.CHUNK) {
        norms.add(frame);
      } else if (told) {
        Patterns p = PatternCodec.decode(frame);
        for (int k = 0; k < p.count(); k++) {
          table.add(p.column(), p.start()[k], p.start()[k + 1], p.multiplicity()[k]);
        }
      }
    }

    @Override
    public Optional<Record> counts() {
      return Optional.of(new Sizes(table.size(), table.entries(), table.squares()));
    }

    @Override
    public List<byte[]> frames(int key) {
      List<byte[]> frames = PatternOrder.frames(key, table.sorted());
      ColumnChunks.merge(norms, ChunkedColumnNorms::joined).encode(0, frames);
      return frames;
    }
  }
}
