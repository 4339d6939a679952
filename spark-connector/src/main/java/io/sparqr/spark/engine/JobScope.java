/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaSparkContext;
import org.jspecify.annotations.Nullable;

/**
 * Job group, description and stage names of the calling thread during a solve; the caller's
 * settings are restored on close. Cancelling the group ({@code sc.cancelJobGroup}) cancels the
 * solve.
 */
public final class JobScope implements AutoCloseable {

  private static final String GROUP = "spark.jobGroup.id";
  private static final String DESCRIPTION = "spark.job.description";

  /**
   * The property from which Spark names a stage: the call site of its action, or the place where
   * its RDD was created.
   */
  private static final String SHORT = "callSite.short";

  /** The text in the stage's details. */
  private static final String LONG = "callSite.long";

  private static final String INTERRUPT = "spark.job.interruptOnCancel";

  private static final String[] KEYS = {GROUP, DESCRIPTION, INTERRUPT, SHORT, LONG};

  private static final String PREFIX = "sparse QR: ";

  /** Maximum number of frames in a call site's long form, as in Spark. */
  private static final int FRAMES = 20;

  private final Engine engine;
  private final @Nullable String[] before = new String[KEYS.length];
  private final String group;

  /**
   * Starts a scope; a caller's own job group is kept, so that cancelling it also cancels the solve.
   */
  public JobScope(JavaSparkContext context) {
    this(Engine.of(context));
  }

  /** As above; without Spark there are no jobs to name. */
  public JobScope(Engine engine) {
    this(engine, newGroup());
  }

  /** The same; without Spark there are no jobs to name. */
  public JobScope(Engine engine, String own) {
    this.engine = engine;
    for (int k = 0; k < KEYS.length; k++) {
      before[k] = engine.property(KEYS[k]);
    }
    group = before[0] != null ? before[0] : own;
    if (before[0] == null) {
      engine.property(GROUP, group);
      engine.property(DESCRIPTION, "sparse QR");
      engine.property(INTERRUPT, "true");
    }
    if (before[KEYS.length - 1] == null) {
      engine.property(LONG, callers());
    }
  }

  /** A new, unique job group. */
  public static String newGroup() {
    return "sparqr-" + UUID.randomUUID();
  }

  /**
   * The callers of the scope, because the stages' details would otherwise only show our internal
   * frames.
   */
  private static String callers() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(f -> !f.getClassName().equals(JobScope.class.getName()))
                    .limit(FRAMES)
                    .map(Object::toString)
                    .collect(Collectors.joining("\n")));
  }

  /** Names the following jobs and stages, such as "level 2 of 4, 37 subtrees, 1.9 TFLOP". */
  public void describe(String what) {
    engine.property(DESCRIPTION, PREFIX + what);
    engine.property(SHORT, PREFIX + what);
  }

  /**
   * Runs an action under its own name, which applies to the stages that end in its jobs and to
   * those that shuffle RDDs created in it.
   */
  public static <T> T named(Engine engine, String what, Supplier<T> action) {
    String outer = engine.property(SHORT);
    engine.property(SHORT, PREFIX + what);
    try {
      return action.get();
    } finally {
      engine.property(SHORT, outer);
    }
  }

  /** As above. */
  public static <T> T named(JavaSparkContext context, String what, Supplier<T> action) {
    return named(Engine.of(context), what, action);
  }

  /** Runs an action under its own name, with errors as from {@link SparkErrors#unwrap}. */
  public static <T> T run(JavaSparkContext context, String what, Supplier<T> action) {
    return run(Engine.of(context), what, action);
  }

  /** As above. */
  public static <T> T run(Engine engine, String what, Supplier<T> action) {
    return named(engine, what, () -> SparkErrors.unwrap(action));
  }

  /** The current job group. */
  public String group() {
    return group;
  }

  @Override
  public void close() {
    for (int k = 0; k < KEYS.length; k++) {
      engine.property(KEYS[k], before[k]);
    }
  }
}
