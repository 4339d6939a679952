/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The command line's names of the backends. */
final class BackendName implements ITypeConverter<BackendChoice> {

  /** The names, for the help text. */
  static final class Candidates implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return List.of("auto", "cpu", "cuda").iterator();
    }
  }

  @Override
  public BackendChoice convert(String name) {
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "auto" -> BackendChoice.AUTO;
      case "cpu" -> BackendChoice.CPU;
      case "cuda" -> BackendChoice.REQUIRE_CUDA;
      default -> throw new TypeConversionException("'" + name + "' is none of auto, cpu, cuda");
    };
  }
}
