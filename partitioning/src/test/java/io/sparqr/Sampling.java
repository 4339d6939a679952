/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Which cases of a sweep run: under Maven one of each ten, chosen by a seed, or all of them with
 * -Dsparqr.whole=true, as the nightly run has it; without Maven, such as on GPU hosts, all. The
 * seed is -Dsparqr.sample (any text; the gate takes the commit), and a failure repeats under the
 * same seed. A sampled case is one of the whole, so the gate never meets a case that a nightly run
 * has not met.
 *
 * <p>Only sweeps over many cases of one kind are sampled. A case that alone sees some planted error
 * is named as one that always runs.
 */
public final class Sampling {

  /** Whether all cases run. */
  public static final boolean WHOLE = !"false".equals(System.getProperty("sparqr.whole"));

  /** One case of so many runs. */
  public static final int PART = 10;

  private static final String SEED = System.getProperty("sparqr.sample", "1");

  private Sampling() {}

  /**
   * Numbers of cases from 0 to {@code whole}, in order: all, or one of each ten and {@code always}.
   */
  public static IntStream numbers(int whole, int... always) {
    return WHOLE ? IntStream.range(0, whole) : chosen(SEED, whole, always);
  }

  /** The same, but all from 0 to the value of the system property of this name, if it is set. */
  public static IntStream numbers(String property, int whole, int... always) {
    Integer asked = Integer.getInteger(property);
    return asked != null ? IntStream.range(0, asked) : numbers(whole, always);
  }

  /** Cases in order: all, or one of each ten and those with the numbers in {@code always}. */
  public static <T> Stream<T> of(Collection<T> cases, int... always) {
    List<T> all = List.copyOf(cases);
    return numbers(all.size(), always).mapToObj(all::get);
  }

  /** Whether a test of this name, one of many that are slow, runs: under one seed of so many. */
  static boolean takes(String name, int oneIn) {
    return takes(name, 0, oneIn);
  }

  /** Whether case {@code number} of a test of this name runs: of so many in a row, one does. */
  static boolean takes(String name, int number, int oneIn) {
    return WHOLE || inTurn(SEED + name, number, oneIn);
  }

  static boolean inTurn(String seed, int number, int oneIn) {
    return number % oneIn == new SplittableRandom(seed.hashCode()).nextInt(oneIn);
  }

  /** How many of so many cases run, at least one. */
  public static int count(int whole) {
    return WHOLE ? whole : (whole + PART - 1) / PART;
  }

  /** One number of each ten; of the last, incomplete ten one if it is among them. */
  static IntStream chosen(String seed, int whole, int... always) {
    var random = new SplittableRandom(seed.hashCode());
    var numbers = new TreeSet<Integer>();
    for (int first = 0; first < whole; first += PART) {
      int number = first + random.nextInt(PART);
      if (number < whole) {
        numbers.add(number);
      }
    }
    if (numbers.isEmpty() && whole > 0) {
      numbers.add(random.nextInt(whole));
    }
    for (int number : always) {
      numbers.add(number);
    }
    return numbers.stream().mapToInt(n -> n);
  }
}
