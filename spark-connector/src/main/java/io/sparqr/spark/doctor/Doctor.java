/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.cluster.Executor;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.internals.SparkProcess;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** Looks at the driver, and at every executor by a task of its own. */
public final class Doctor {

  /** How long the first executor of an application may take to come. */
  private static final long PATIENCE_MILLIS = 60_000;

  private static final long POLL_MILLIS = 100;

  private static final String DRIVER = "driver";

  private Doctor() {}

  /**
   * Looks at this JVM alone, without starting Spark; some seconds.
   *
   * @param problem gen:SPEC or ROWSxCOLUMNSxNONZEROS, if it is to be looked at, too
   * @throws IllegalArgumentException if the problem is neither
   */
  public static Diagnosis here(Optional<String> problem) {
    var conf = new SparkConf();
    List<Finding> problems = problem(problem, Runtime.getRuntime().maxMemory());
    HostExam driver = HostExam.here(conf, DRIVER, true);
    return joined(driver, List.of(), problems);
  }

  /**
   * Looks at a running application: one job, with a task for each executor.
   *
   * @param problem as above
   * @throws IllegalArgumentException if the problem is neither
   */
  public static Diagnosis of(JavaSparkContext context, Optional<String> problem) {
    SparkConf conf = context.getConf();
    boolean local = ClusterResources.useWhatDriverHas(context);
    long heap =
        local
            ? Runtime.getRuntime().maxMemory()
            : conf.getSizeAsBytes("spark.executor.memory", "1g");
    List<Finding> problems = problem(problem, heap);
    HostExam driver = HostExam.here(conf, DRIVER, true);
    if (local) {
      return joined(driver, List.of(), problems);
    }
    var findings = new Findings("cluster", "all executors");
    List<Executor> there = executors(context);
    long begin = System.currentTimeMillis();
    List<HostExam> exams = there.isEmpty() ? List.of() : exams(context, there);
    long end = System.currentTimeMillis();
    if (there.isEmpty()) {
      findings.error(
          "more room in the queue, or a smaller spark.executor.memory",
          "no executor came within %d s",
          PATIENCE_MILLIS / 1000);
    }
    unreached(there, exams, findings);
    Comparison.look(driver, exams, begin, end, findings);
    var all = new ArrayList<Finding>(findings.list());
    all.addAll(problems);
    return joined(driver, exams, all);
  }

  /** The findings as JSON, for Python: {@link Diagnosis#toMap}. */
  public static String json(JavaSparkContext context, String problem) {
    return of(context, Optional.of(problem).filter(p -> !p.isEmpty())).toJson();
  }

  /**
   * The GPUs that tasks can use, as JSON for Python: for each one where it is, its number there,
   * capability and kernels, and its memory. One job, with a task for each executor.
   */
  public static String devicesJson(JavaSparkContext context) {
    List<Executor> there =
        ClusterResources.useWhatDriverHas(context) ? List.of() : executors(context);
    List<String[][]> answers =
        ClusterResources.useWhatDriverHas(context)
            ? List.<String[][]>of(DeviceTexts.of(DRIVER))
            : ask(context, there, k -> DeviceTexts.of(executorHere()));
    return DeviceTexts.json(answers);
  }

  private static List<Finding> problem(Optional<String> problem, long heap) {
    var findings = new Findings("problem", "all executors");
    problem.ifPresent(p -> ProblemCheck.look(p, heap, findings));
    return findings.list();
  }

  private static Diagnosis joined(HostExam driver, List<HostExam> executors, List<Finding> others) {
    var all = new ArrayList<Finding>(driver.findings());
    executors.forEach(e -> all.addAll(e.findings()));
    all.addAll(others);
    return new Diagnosis(all);
  }

  private static List<Executor> executors(JavaSparkContext context) {
    long end = System.currentTimeMillis() + PATIENCE_MILLIS;
    List<Executor> there = Executor.of(context);
    try {
      while (there.isEmpty() && System.currentTimeMillis() < end) {
        Thread.sleep(POLL_MILLIS);
        there = Executor.of(context);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return there;
  }

  private static void unreached(List<Executor> there, List<HostExam> exams, Findings findings) {
    Set<String> reached = new HashSet<>();
    exams.forEach(e -> reached.add(e.where()));
    for (Executor e : there) {
      if (reached.stream().noneMatch(w -> w.startsWith(name(e.id()) + " "))) {
        findings.note(
            "run it again while no job runs",
            "%s was busy, another took its task: not looked at",
            name(e.id()));
      }
    }
  }

  private static String name(String id) {
    return "executor " + id;
  }

  /** One exam for each executor that a task reached. */
  private static List<HostExam> exams(JavaSparkContext context, List<Executor> there) {
    String[][] settings =
        Arrays.stream(context.getConf().getAll())
            .map(one -> new String[] {one._1(), one._2()})
            .toArray(String[][]::new);
    return ask(context, there, k -> onExecutor(settings)).stream().map(HostExam::of).toList();
  }

  /**
   * One answer for each executor that a task reached.
   *
   * @param question whose answers have where they are from as their first text
   */
  private static List<String[][]> ask(
      JavaSparkContext context, List<Executor> there, Function<Integer, String[][]> question) {
    List<Tuple2<Integer, Seq<String>>> placed = new ArrayList<>();
    for (int k = 0; k < there.size(); k++) {
      List<String> place = List.of(there.get(k).location());
      placed.add(new Tuple2<>(k, CollectionConverters.asScala(place).toSeq()));
    }
    try (var scope = new JobScope(Engine.of(context))) {
      scope.describe("doctor");
      List<String[][]> answers =
          context
              .sc()
              .makeRDD(
                  CollectionConverters.asScala(placed).toSeq(),
                  ClassTag$.MODULE$.<Integer>apply(Integer.class))
              .toJavaRDD()
              .map(question)
              .collect();
      var seen = new HashSet<String>();
      return answers.stream().filter(answer -> seen.add(answer[0][0])).toList();
    }
  }

  private static String[][] onExecutor(String[]... settings) {
    var conf = new SparkConf(false);
    for (String[] one : settings) {
      conf.set(one[0], one[1]);
    }
    return HostExam.here(conf, executorHere(), false).texts();
  }

  private static String executorHere() {
    return name(SparkProcess.executor().orElse("?")) + " on " + SparkProcess.host().orElse("?");
  }
}
