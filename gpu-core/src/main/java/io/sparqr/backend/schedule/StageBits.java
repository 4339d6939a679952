/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * A checksum of the values of a stage that does not depend on their order: the sum of all values'
 * mixed bits, modulo 2^64. The host's over what it has, and an executor's over what it got, are the
 * same or a value was lost, doubled or changed on its way.
 */
public final class StageBits {

  /** Values that are worth a thread. */
  private static final int GRAIN = 1 << 18;

  private StageBits() {}

  /** One value's part: {@code mixed_bits} of the kernels. One to one. */
  public static long of(double x) {
    long z = Double.doubleToRawLongBits(x) * 0x9E3779B97F4A7C15L;
    return z ^ (z >>> 29);
  }

  /** Values [from, to). */
  public static long of(double[] x, int from, int to) {
    long sum = 0;
    for (int k = from; k < to; k++) {
      sum += of(x[k]);
    }
    return sum;
  }

  /** All that goes into a stage. O(values), by several threads. */
  static long of(FrontRows rows, int[] fronts, List<ContributionBlock> blocks, int threads) {
    RowBlock r = rows.rows();
    int rhs = r.rhsCount();
    var sum = new LongAdder();
    for (ContributionBlock b : blocks) {
      add(b.values(), b.values().length, threads, sum);
      add(b.rhs(), b.rhs().length, threads, sum);
    }
    if (Arrays.stream(fronts).mapToLong(rows::count).sum() == r.rows()) {
      add(r.value(), r.rowStart()[r.rows()], threads, sum);
      add(r.rhs(), r.rows() * rhs, threads, sum);
      return sum.sum();
    }
    Parallel.loop(
        fronts.length,
        256,
        threads,
        (from, to, t) -> {
          long part = 0;
          for (int f = from; f < to; f++) {
            int n = rows.count(fronts[f]);
            for (int k = 0; k < n; k++) {
              int i = rows.row(fronts[f], k);
              part += of(r.value(), r.rowStart()[i], r.rowStart()[i + 1]);
              part += of(r.rhs(), i * rhs, (i + 1) * rhs);
            }
          }
          sum.add(part);
        });
    return sum.sum();
  }

  private static void add(double[] x, int n, int threads, LongAdder sum) {
    Parallel.loop(n, GRAIN, threads, (from, to, t) -> sum.add(of(x, from, to)));
  }
}
