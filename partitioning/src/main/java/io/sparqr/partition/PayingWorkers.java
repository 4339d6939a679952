/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * How many workers a tree is cut for. More of them are taken only if that is foretold to be faster
 * by a margin, because a forecast that is off would otherwise make every further device or executor
 * a loss: on a tree with a heavy top the blocks' way costs more than the subtrees below it gain.
 */
public final class PayingWorkers {

  /** What more workers have to gain. */
  public static final double LEAST_GAIN = 1.15;

  private PayingWorkers() {}

  /**
   * A choice.
   *
   * @param cut the cut for these workers
   * @param workers their number
   * @param reason one line for the report
   */
  public record Choice(TreePartition cut, int workers, String reason) {}

  /** The numbers of workers to try: 1, 2, 3, 4, 6, 8, 12, 16, ... and all. */
  static int[] counts(int all) {
    return IntStream.concat(
            IntStream.iterate(1, k -> k < all, k -> 2 * k)
                .flatMap(k -> k == 1 ? IntStream.of(1) : IntStream.of(k, k + k / 2)),
            IntStream.of(all))
        .filter(k -> k <= all)
        .distinct()
        .toArray();
  }

  /** The fastest workers, the first of those that are equal; ascending. */
  public static int[] fastest(ResourceModel resources, int count) {
    return IntStream.range(0, resources.workers().size())
        .boxed()
        .sorted(
            Comparator.<Integer>comparingDouble(w -> -resources.workers().get(w).flopsPerSecond())
                .thenComparing(w -> w))
        .limit(count)
        .mapToInt(Integer::intValue)
        .sorted()
        .toArray();
  }

  /**
   * Chooses.
   *
   * @param all number of workers
   * @param what they are, in the plural, such as "devices"
   * @param cuts the best cut for a number of them; empty if their memory does not suffice, which it
   *     has to for {@code all}
   */
  public static Choice choose(int all, String what, IntFunction<Optional<TreePartition>> cuts) {
    return choose(all, what, k -> 0, cuts);
  }

  /**
   * As above.
   *
   * @param rows seconds that a number of them takes for the rows before the factorization
   */
  public static Choice choose(
      int all, String what, IntToDoubleFunction rows, IntFunction<Optional<TreePartition>> cuts) {
    int[] counts = counts(all);
    double[] seconds = new double[counts.length];
    Optional<TreePartition> chosen = Optional.empty();
    int best = -1;
    for (int i = 0; i < counts.length; i++) {
      Optional<TreePartition> cut = cuts.apply(counts[i]);
      double before = rows.applyAsDouble(counts[i]);
      seconds[i] = cut.map(c -> before + c.estimatedSeconds()).orElse(Double.POSITIVE_INFINITY);
      if (cut.isPresent() && (best < 0 || seconds[i] * LEAST_GAIN <= seconds[best])) {
        best = i;
        chosen = cut;
      }
    }
    TreePartition cut = chosen.orElseThrow();
    return new Choice(cut, counts[best], reason(counts, seconds, best, what));
  }

  private static String reason(int[] counts, double[] seconds, int best, String what) {
    int all = counts[counts.length - 1];
    if (all == 1) {
      return "";
    }
    String text =
        String.format(
            Locale.ROOT, "%d of %d %s: predicted %.3g s", counts[best], all, what, seconds[best]);
    if (counts[best] == 1) {
      double least = Arrays.stream(seconds).skip(1).min().orElseThrow();
      return String.format(
          Locale.ROOT, "%s, with more of them %.3g s, which does not pay", text, least);
    }
    return Double.isFinite(seconds[0])
        ? String.format(Locale.ROOT, "%s, on one %.3g s", text, seconds[0])
        : text + ", one has too little memory";
  }
}
