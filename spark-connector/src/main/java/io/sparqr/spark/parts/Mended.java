/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.util.Iterator;
import java.util.function.IntFunction;
import java.util.function.Predicate;

/**
 * The elements of a stored partition; where one has become useless, those of the partition computed
 * again, from there on.
 *
 * @param <T> element
 */
final class Mended<T> implements Iterator<T> {

  private final Predicate<T> usable;
  private final IntFunction<Iterator<T>> attempts;
  private final int most;
  private Iterator<T> elements;
  private int attempt;
  private long taken;

  /**
   * Begins with attempt 0.
   *
   * @param attempts the elements of each attempt, always as many in the same order
   * @param most number of attempts
   */
  Mended(Predicate<T> usable, IntFunction<Iterator<T>> attempts, int most) {
    this.usable = usable;
    this.attempts = attempts;
    this.most = most;
    elements = attempts.apply(0);
  }

  @Override
  public boolean hasNext() {
    return elements.hasNext();
  }

  @Override
  public T next() {
    T element = elements.next();
    while (!usable.test(element)) {
      element = again();
    }
    taken++;
    return element;
  }

  /** This element of the next attempt. */
  private T again() {
    // To its end, because that is when Spark lets go of the stored partition.
    while (elements.hasNext()) {
      elements.next();
    }
    if (++attempt == most) {
      throw new IllegalStateException("what was stored is lost, and again when it was computed");
    }
    elements = attempts.apply(attempt);
    for (long k = 0; k < taken; k++) {
      elements.next();
    }
    return elements.next();
  }
}
