/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A parameterized test whose cases are many of one kind, or slow: all run with -Dsparqr.whole=true,
 * and in the gate every so manieth of them, the first one chosen by the seed ({@link Sampling}).
 * The gate counts the others among the skipped ones.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SampledCases.Turn.class)
public @interface SampledCases {

  /** One case of so many runs. */
  int oneIn() default Sampling.PART;

  /** Whether it is the case's turn. */
  class Turn implements ExecutionCondition {

    /** The end of the unique id of a case; the test itself, which has none, always begins. */
    private static final Pattern NUMBER = Pattern.compile("#(\\d+)\\]$");

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      var test = context.getElement().filter(e -> e.isAnnotationPresent(SampledCases.class));
      Matcher number = NUMBER.matcher(context.getUniqueId());
      if (test.isEmpty() || !number.find()) {
        return Sampled.Turn.TAKEN;
      }
      int oneIn = test.get().getAnnotation(SampledCases.class).oneIn();
      boolean turn =
          Sampling.takes(test.get().toString(), Integer.parseInt(number.group(1)), oneIn);
      return turn ? Sampled.Turn.TAKEN : Sampled.Turn.LEFT_OUT;
    }
  }
}
