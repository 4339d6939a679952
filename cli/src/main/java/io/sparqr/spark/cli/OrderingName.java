/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.plan.Words;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The command line's names of the column orders. */
final class OrderingName implements ITypeConverter<OrderingMethod> {

  /** The names, for the help text. */
  static final class Candidates implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Words.ORDERINGS.all().iterator();
    }
  }

  @Override
  public OrderingMethod convert(String name) {
    try {
      return Words.ORDERINGS.of(name);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
