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
 * A slow test that takes its turn: it runs with -Dsparqr.whole=true, and under one seed in so many
 * of the gate ({@link Sampling}). The gate counts it among the skipped ones otherwise.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Sampled.Turn.class)
public @interface Sampled {

  /** It runs under one seed of so many. */
  int oneIn() default Sampling.PART;

  /** Whether it is the test's turn. */
  class Turn implements ExecutionCondition {

    static final ConditionEvaluationResult TAKEN =
        ConditionEvaluationResult.enabled("in the sample");

    static final ConditionEvaluationResult LEFT_OUT =
        ConditionEvaluationResult.disabled("not in this sample; -Dsparqr.whole=true runs it");

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      var annotated = context.getElement().filter(e -> e.isAnnotationPresent(Sampled.class));
      boolean turn =
          annotated.isEmpty()
              || Sampling.takes(
                  annotated.get().toString(), annotated.get().getAnnotation(Sampled.class).oneIn());
      return turn ? TAKEN : LEFT_OUT;
    }
  }
}
