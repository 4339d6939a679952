/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.Tuning;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * One thing that is varied while all others stay.
 *
 * @param name in words
 * @param concerned the workloads whose lists it changes; the first one decides which value is tried
 * @param values the text of each value, and what it makes of a tuning
 */
record TuningAxis(String name, List<Workload> concerned, List<Value> values) {

  /**
   * A value of an axis.
   *
   * @param text for tables
   * @param change what it makes of a tuning
   */
  record Value(String text, UnaryOperator<Tuning> change) {}

  private static final int[] APPLY_TASKS = {2, 3, 4, 6, 8, 12};

  private static final int[] APPLY_TILES = {2, 4, 6, 8, 12, 16, 32};

  private static final int[] SMALL_DOUBLES = {2048, 4096, 8192, 12_288, 16_384, 32_768};

  private static final int[] SMALL_COLUMNS = {32, 48, 64, 80, 96, 128};

  /** Doubles of a chunk as powers of two. */
  private static final int[] CHUNKS = {20, 21, 22, 23, 24};

  /** Those that tile lists have, the ones that promise most first. */
  static List<TuningAxis> all() {
    var all = new ArrayList<TuningAxis>();
    all.add(
        bundles(
            "bundles of tall fronts",
            List.of(Workload.TALL, Workload.TREE, Workload.CHUNKS),
            (b, n) -> new TileBundles(n, b.narrow(), b.much(), b.others())));
    all.add(
        bundles(
            "bundles where much is left",
            List.of(Workload.SQUARE, Workload.TREE),
            (b, n) -> new TileBundles(b.tall(), b.narrow(), n, b.others())));
    all.add(
        bundles(
            "bundles where a task's time decides",
            List.of(Workload.SQUARE, Workload.TREE),
            (b, n) -> new TileBundles(b.tall(), b.narrow(), b.much(), n)));
    all.add(
        bundles(
            "bundles of narrow fronts",
            List.of(Workload.NARROW, Workload.SMALL, Workload.TREE),
            (b, n) -> new TileBundles(b.tall(), n, b.much(), b.others())));
    List<Workload> tiled = List.of(Workload.SQUARE, Workload.TALL, Workload.NARROW, Workload.TREE);
    all.add(
        new TuningAxis(
            "Apply tasks for a multiprocessor",
            tiled,
            values(APPLY_TASKS, n -> t -> t.withApply(n, t.applyTiles()))));
    all.add(
        new TuningAxis(
            "column tiles of an Apply task",
            tiled,
            values(APPLY_TILES, n -> t -> t.withApply(t.applyTasks(), n))));
    List<Workload> small = List.of(Workload.SMALL, Workload.TREE);
    all.add(
        new TuningAxis(
            "entries of a small front",
            small,
            values(SMALL_DOUBLES, n -> t -> t.withSmallFronts(n, t.tiles().smallFrontColumns()))));
    all.add(
        new TuningAxis(
            "columns of a small front",
            small,
            values(SMALL_COLUMNS, n -> t -> t.withSmallFronts(t.tiles().smallFrontDoubles(), n))));
    all.add(
        new TuningAxis(
            "pipelining",
            tiled,
            List.of(
                new Value("on", t -> t.withPipelining(true)),
                new Value("off", t -> t.withPipelining(false)))));
    all.add(
        new TuningAxis(
            "doubles of a chunk of rows",
            List.of(Workload.CHUNKS),
            Arrays.stream(CHUNKS)
                .mapToObj(p -> new Value("2^" + p, t -> t.withChunk(1 << p)))
                .toList()));
    return all;
  }

  /** What a size makes of bundles. */
  private interface Resize {
    TileBundles of(TileBundles bundles, int size);
  }

  private static TuningAxis bundles(String name, List<Workload> concerned, Resize resize) {
    int[] sizes = IntStream.rangeClosed(TileBundles.LEAST, TileBundles.MOST).toArray();
    return new TuningAxis(
        name, concerned, values(sizes, n -> t -> t.with(resize.of(t.tiles().bundles(), n))));
  }

  private static List<Value> values(int[] numbers, IntFunction<UnaryOperator<Tuning>> change) {
    return Arrays.stream(numbers)
        .mapToObj(n -> new Value(Integer.toString(n), change.apply(n)))
        .toList();
  }
}
