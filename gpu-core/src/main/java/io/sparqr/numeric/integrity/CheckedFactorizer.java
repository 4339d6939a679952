/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A backend with a check of every result: the column sums of a task's input and output are compared
 * ({@link Balance}). A task that fails is repeated by the safe method: first with reflectors only
 * if the backend has faster methods; then front by front on a host backend, each front checked. The
 * summary records it; if a front still fails, there is an error and no answer.
 */
public final class CheckedFactorizer implements SubtreeFactorizer {

  private final SubtreeFactorizer backend;
  private final SubtreeFactorizer host;

  /**
   * Wraps a backend.
   *
   * @param backend closed with this
   * @param host for repeating failed tasks front by front; may be the same; closed with this
   */
  public CheckedFactorizer(SubtreeFactorizer backend, SubtreeFactorizer host) {
    this.backend = backend;
    this.host = host;
  }

  /**
   * Factors on the backend and sets the summary's {@code normDeparture} to the largest departure
   * found.
   *
   * @throws NumericalIntegrityException if a front fails when repeated, or the task's input has
   *     changed by then; the task is -1
   */
  @Override
  public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
    var why = new ArrayList<String>();
    GivenValues given = backend.checksItself() ? null : GivenValues.of(problem, options.threads());
    try {
      return attempt(backend, problem, options);
    } catch (IntegrityFailure e) {
      why.add(warning(problem, backend, e));
    }
    verifyGiven(problem, given);
    if (given == null) {
      try {
        return doneAgain(attempt(backend, problem, options.safely()), why);
      } catch (IntegrityFailure e) {
        why.add(warning(problem, backend, e) + ", by reflectors alone");
      }
    }
    SubtreeFactor again = new FrontByFront(host, problem, options.safely()).run();
    verifyGiven(problem, given);
    return doneAgain(again, why);
  }

  /** Checks the input before and after a repetition. */
  private void verifyGiven(SubtreeProblem problem, @Nullable GivenValues given) {
    if (given == null) {
      backend.verifyGiven(problem);
    } else {
      given.verify();
    }
  }

  /** The checked result of a factorizer. */
  static SubtreeFactor attempt(
      SubtreeFactorizer by, SubtreeProblem problem, FactorOptions options) {
    SubtreeFactor factor = by.factor(problem, options);
    double departure = by.checksItself() ? 0 : TaskCheck.verify(problem, factor, options);
    if (options.keepQ()) {
      departure = Math.max(departure, ReflectorCheck.verify(problem, factor, options));
    }
    return factor.with(factor.summary().withDeparture(departure));
  }

  private static SubtreeFactor doneAgain(SubtreeFactor factor, List<String> why) {
    return factor.with(factor.summary().doneAgain(why));
  }

  private static String warning(SubtreeProblem problem, SubtreeFactorizer by, IntegrityFailure e) {
    int[] fronts = problem.fronts();
    return "a task was done again (fronts %d to %d, %s): %s"
        .formatted(fronts[0], fronts[fronts.length - 1], by.description(), e.getMessage());
  }

  @Override
  public boolean checksItself() {
    return true;
  }

  @Override
  public String description() {
    return backend.description();
  }

  @Override
  public void close() {
    try {
      backend.close();
    } finally {
      host.close();
    }
  }
}
