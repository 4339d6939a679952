/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.util.Iterator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Elements of an iterator that is not made before one of them is asked for. Not thread-safe.
 *
 * @param <T> element
 */
final class OnDemand<T> implements Iterator<T> {

  private final Supplier<Iterator<T>> make;
  private @Nullable Iterator<T> made;

  OnDemand(Supplier<Iterator<T>> make) {
    this.make = make;
  }

  private Iterator<T> made() {
    if (made == null) {
      made = make.get();
    }
    return made;
  }

  @Override
  public boolean hasNext() {
    return made().hasNext();
  }

  @Override
  public T next() {
    return made().next();
  }
}
