/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A slow test, of a minute or so, that takes its turn: it runs with -Dsparqr.whole=true, and under
 * one seed in ten of the gate ({@link Sampling}). The gate counts it among the skipped ones
 * otherwise.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Sampled.Turn.class)
public @interface Sampled {

  /** Whether it is the test's turn. */
  class Turn implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      var annotated = context.getElement().filter(e -> e.isAnnotationPresent(Sampled.class));
      if (annotated.isEmpty() || Sampling.takes(annotated.get().toString())) {
        return ConditionEvaluationResult.enabled("in the sample");
      }
      return ConditionEvaluationResult.disabled("not in this sample; -Dsparqr.whole=true runs it");
    }
  }
}
