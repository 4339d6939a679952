/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ErrorTextTest {

  private static final String FRAMES =
      """
      Traceback (most recent call last):
        File "worker.py", line 1907, in main
          process()
        File "mine.py", line 3, in volume
          raise KeyError("no such tree")
      KeyError: 'no such tree'
      """;

  @Test
  void theFirstLine() {
    assertThat(ErrorText.firstLine(null)).isEmpty();
    assertThat(ErrorText.firstLine("\n one\ntwo")).isEqualTo("one");
    assertThat(ErrorText.firstLine("x".repeat(401))).isEqualTo("x".repeat(400) + "...");
  }

  @Test
  void whatAPythonWorkerRaised() {
    String said = "KeyError: 'no such tree'";
    assertThat(ErrorText.firstLine(FRAMES)).isEqualTo(said);
    // as since Spark 4.2
    String wrapped = "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: " + FRAMES;
    assertThat(ErrorText.firstLine(wrapped)).isEqualTo(said);
    assertThat(ErrorText.line(new IllegalStateException(wrapped)))
        .isEqualTo("java.lang.IllegalStateException: " + said);
  }

  @Test
  void theLastOfSeveralTracebacks() {
    String chained =
        FRAMES.replace("KeyError: 'no such tree'", "ZeroDivisionError: division by zero")
            + "\nDuring handling of the above exception, another exception occurred:\n\n"
            + FRAMES;
    assertThat(ErrorText.firstLine(chained)).isEqualTo("KeyError: 'no such tree'");
  }

  @Test
  void aTracebackThatIsCutOff() {
    String cut = FRAMES.substring(0, FRAMES.indexOf("KeyError: '"));
    assertThat(ErrorText.firstLine(cut)).isEqualTo("Traceback (most recent call last):");
  }
}
