/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.spark.input.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Every failure has its exit code and leaves no file behind. */
class FailuresTest {

  @Command
  private record Failing(Exception error) implements Callable<Integer> {
    @Override
    public Integer call() throws Exception {
      throw error;
    }
  }

  @Test
  void everyErrorHasItsExitCode() {
    var codes = new LinkedHashMap<Exception, Integer>();
    codes.put(new IllegalStateException("nobody thought of this"), 1);
    codes.put(new ArithmeticException(), 1);
    codes.put(new IOException("disk"), 1);
    codes.put(new MatrixFormatException("bad", "line", 1), 1);
    codes.put(new RuntimeException(new OutOfMemoryError("heap")), 1);
    codes.put(new UsageException("word"), 2);
    codes.put(new NoSuchFileException("a.mtx"), 2);
    codes.put(new NonFiniteValueException("NaN", 1, 2), 3);
    codes.put(new RuntimeException(new RankDeficientException("rank", 1, 2)), 3);
    for (Map.Entry<Exception, Integer> e : codes.entrySet()) {
      var err = new StringWriter();
      CommandLine line = new CommandLine(new Failing(e.getKey()));
      line.setErr(new PrintWriter(err, true));
      line.setExecutionExceptionHandler(Failures::report);
      assertThat(line.execute()).as(e.getKey().toString()).isEqualTo(e.getValue());
      assertThat(err.toString()).startsWith("sparqr: ");
    }
  }

  @Test
  void filesThatAreNotCommittedAreGone(@TempDir Path folder) throws IOException {
    Path x = folder.resolve("x.mtx");
    assertThatThrownBy(
            () -> {
              try (Outputs outputs = new Outputs(true)) {
                outputs.add(x, file -> Files.writeString(file, "half"));
                assertThat(folder).isNotEmptyDirectory();
                outputs.add(
                    folder.resolve("r.json"),
                    file -> {
                      Files.writeString(file, "{");
                      throw new IOException("the disk is full");
                    });
                outputs.commit();
              }
            })
        .isInstanceOf(OutputException.class)
        .hasMessage(folder.resolve("r.json") + " cannot be written: the disk is full");
    assertThat(folder).isEmptyDirectory();
    try (Outputs outputs = new Outputs(true)) {
      outputs.add(x, file -> Files.writeString(file, "never committed"));
    }
    assertThat(folder).isEmptyDirectory();
    try (Outputs outputs = new Outputs(true)) {
      outputs.add(x, file -> Files.writeString(file, "whole"));
      outputs.commit();
    }
    assertThat(folder.toFile().list()).containsExactly("x.mtx");
    assertThat(x).hasContent("whole");
  }
}
