/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.error.TaskFailedException;
import org.apache.spark.SparkException;
import org.junit.jupiter.api.Test;

/** What a job's failure says; tasks that fail for real are in the tests of whole solves. */
class SparkErrorsTest {

  private static Exception of(String reason) {
    return SparkErrors.ours(
        new SparkException(
            "Job aborted due to stage failure: Task 3 in stage 5.0 failed 4 times, most recent failure:"
                + " Lost task 3.3 in stage 5.0 (TID 9) (host executor 2): "
                + reason));
  }

  @Test
  void theReasonIsInTheLine() {
    assertThat(of("ExecutorLostFailure (executor 2 exited)"))
        .isInstanceOf(TaskFailedException.class)
        .hasMessage(
            "task 3 failed 4 times, at last on host executor 2: ExecutorLostFailure (executor 2 exited)");
  }

  /** Spark deserializes the errors of tasks with the application's class loader. */
  @Test
  void aReasonThatSparkCouldNotReadIsToBeFoundInItsLog() {
    assertThat(of("UnknownReason"))
        .isInstanceOf(TaskFailedException.class)
        .hasMessageStartingWith(
            "task 3 failed 4 times, at last on host executor 2: the reason is in")
        .hasMessageContainingAll("Spark's log", "spark.addArtifacts", "--jars")
        .hasMessageNotContaining("UnknownReason");
  }
}
