/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import io.sparqr.spark.plan.Words;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The command line's names of the backends. */
final class BackendName implements ITypeConverter<BackendChoice> {

  /** The names, for the help text. */
  static final class Candidates implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Words.BACKENDS.all().iterator();
    }
  }

  @Override
  public BackendChoice convert(String name) {
    try {
      return Words.BACKENDS.of(name);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
