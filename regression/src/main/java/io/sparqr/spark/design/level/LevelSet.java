/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The levels found in a partition: a growing set of keys or of texts, and whether a value is
 * missing.
 */
public final class LevelSet {

  private long[] keys = new long[16];
  private final boolean ofTexts;
  private UTF8String[] texts;
  private int count;
  private int[] table = new int[64];
  private boolean missing;

  LevelSet(boolean ofTexts) {
    this.ofTexts = ofTexts;
    texts = new UTF8String[ofTexts ? 16 : 0];
  }

  public void addMissing() {
    missing = true;
  }

  boolean hasMissing() {
    return missing;
  }

  /** Adds a number's key. O(1). */
  public void add(long key) {
    int mask = table.length - 1;
    int slot = Levels.spread(key, mask);
    while (table[slot] != 0) {
      if (keys[table[slot] - 1] == key) {
        return;
      }
      slot = (slot + 1) & mask;
    }
    if (count == keys.length) {
      keys = Arrays.copyOf(keys, 2 * count);
    }
    keys[count++] = key;
    table[slot] = count;
    grow();
  }

  /** Copies a new text, because Spark may overwrite it. */
  public void add(UTF8String text) {
    int mask = table.length - 1;
    int slot = Levels.spread(text.hashCode(), mask);
    while (table[slot] != 0) {
      if (texts[table[slot] - 1].equals(text)) {
        return;
      }
      slot = (slot + 1) & mask;
    }
    if (count == texts.length) {
      texts = Arrays.copyOf(texts, 2 * count);
    }
    texts[count++] = UTF8String.fromBytes(text.getBytes());
    table[slot] = count;
    grow();
  }

  private long hash(int k) {
    return ofTexts ? texts[k].hashCode() : keys[k];
  }

  private void grow() {
    if (2 * count <= table.length) {
      return;
    }
    table = new int[Levels.tableSize(count)];
    int mask = table.length - 1;
    for (int k = 0; k < count; k++) {
      int slot = Levels.spread(hash(k), mask);
      while (table[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      table[slot] = k + 1;
    }
  }

  /**
   * The levels by hash, in the given number of chunks; a level is in the same chunk in every
   * partition.
   */
  List<LevelChunk> chunks(int parts) {
    return ofTexts ? textChunks(parts) : keyChunks(parts);
  }

  private List<LevelChunk> keyChunks(int parts) {
    Arrays.sort(keys, 0, count);
    var sizes = new int[parts];
    for (int k = 0; k < count; k++) {
      sizes[part(keys[k], parts)]++;
    }
    var split = new long[parts][];
    for (int p = 0; p < parts; p++) {
      split[p] = new long[sizes[p]];
      sizes[p] = 0;
    }
    for (int k = 0; k < count; k++) {
      int p = part(keys[k], parts);
      split[p][sizes[p]++] = keys[k];
    }
    return Arrays.stream(split).map(LevelChunk::ofKeys).toList();
  }

  private List<LevelChunk> textChunks(int parts) {
    Arrays.sort(texts, 0, count, UTF8String::binaryCompare);
    var split = new ArrayList<List<UTF8String>>();
    for (int p = 0; p < parts; p++) {
      split.add(new ArrayList<>());
    }
    for (int k = 0; k < count; k++) {
      split.get(part(texts[k].hashCode(), parts)).add(texts[k]);
    }
    return split.stream().map(LevelChunk::ofTexts).toList();
  }

  private static int part(long hash, int parts) {
    return Math.floorMod(Levels.spread(hash, Integer.MAX_VALUE), parts);
  }
}
