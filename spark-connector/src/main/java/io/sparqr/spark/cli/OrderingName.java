/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.ordering.OrderingMethod;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The command line's names of the column orders. */
final class OrderingName implements ITypeConverter<OrderingMethod> {

  /** The names, for the help text. */
  static final class Candidates implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return List.of("auto", "colamd", "amd", "nd", "natural", "best").iterator();
    }
  }

  @Override
  public OrderingMethod convert(String name) {
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "auto" -> OrderingMethod.AUTO;
      case "colamd" -> OrderingMethod.COLAMD;
      case "amd" -> OrderingMethod.AMD;
      case "nd" -> OrderingMethod.NESTED_DISSECTION;
      case "natural" -> OrderingMethod.NATURAL;
      case "best" -> OrderingMethod.BEST;
      default ->
          throw new TypeConversionException(
              "'" + name + "' is none of auto, colamd, amd, nd, natural, best");
    };
  }
}
