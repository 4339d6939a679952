/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sparqr generate}: a matrix of the gallery as a Matrix Market file. */
@Command(
    name = "generate",
    description = "Writes a matrix of the gallery as a Matrix Market file.",
    versionProvider = CliVersion.class,
    mixinStandardHelpOptions = true)
final class GenerateCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "gen:SPEC",
      description =
          "gen:chP-Q-bK, gen:nugN, gen:cells2dK, gen:cells3dK, gen:grad3dK, gen:onehotMxC1xC2...,"
              + " gen:panelWxFxY,"
              + " each with :rand (random values) and :seed=S")
  private String specification;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description = "Matrix Market file; gzip if it ends in .gz")
  private Path out;

  @Option(names = "--overwrite", description = "replace an existing file")
  private boolean overwrite;

  @Option(names = "--verbose", description = "stack traces with errors")
  @SuppressWarnings("UnusedVariable") // Failures asks picocli for it
  private boolean verbose;

  @Override
  public Integer call() throws IOException {
    Outputs.check(out, overwrite);
    CsrMatrix a = LocalProblem.generate(specification);
    try (Outputs outputs = new Outputs(overwrite)) {
      outputs.add(out, file -> MatrixMarketWriter.writeCoordinate(file, a));
      outputs.commit();
    }
    spec.commandLine()
        .getOut()
        .printf(
            Locale.ROOT, "%s: %,d x %,d, %,d nonzeros%n", out, a.rows(), a.columns(), a.nonzeros());
    return 0;
  }
}
