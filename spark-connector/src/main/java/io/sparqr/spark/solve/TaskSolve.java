/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.ResidentFactors;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.factor.DyingExecutor;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A solve with one task's part of R: on its device if R has stayed there, otherwise with the stored
 * rows.
 */
public final class TaskSolve {

  private TaskSolve() {}

  /**
   * Where a task has solved.
   *
   * @param task the task
   * @param resident whether R had stayed on the device
   * @param reason why not; empty: the factorization had no device
   */
  public record Where(int task, boolean resident, String reason) implements Serializable {}

  /**
   * Solves.
   *
   * @param kept the task's stored content, of which only the report is read if R has stayed on the
   *     device
   * @param given values at the positions that the task takes
   * @param factorization under which R has stayed, if it has
   * @param threads threads for each task
   * @return a frame with the values that the task makes, then one with a {@link Where}
   */
  public static List<byte[]> run(
      Substitution what,
      SolvePlan plan,
      Iterator<TaskOutput> kept,
      Sparse given,
      @Nullable String factorization,
      int[] threads) {
    TaskOutput report = kept.next();
    int id = TaskReport.of(report).task();
    var why = new ArrayList<String>();
    Optional<double[]> made =
        onDevice(factorization, id, r -> what.onDevice(r, given.value(), given.width()), why);
    if (made.isPresent()) {
      SubtreeTask task = plan.partition().tasks().get(id);
      int[] position = what.made(Substitution.Part.of(plan.analysis(), task));
      return List.of(
          VectorCodec.encodeSparse(new Sparse(position, made.get(), given.width())),
          ObjectCodec.encode(new Where(id, true, "")));
    }
    return List.of(
        what.withRows(plan, again(report, kept), given, threads),
        ObjectCodec.encode(new Where(id, false, why.get(0))));
  }

  /**
   * Solves R x = c with several tasks, whose R is on no device, one after the other.
   *
   * @param kept the stored content of each
   * @param given for each a frame with values at the positions that it takes; where these are
   *     pivots of one before, what that makes counts instead
   * @param threads threads for each task
   * @return for each a frame with the values that it makes, then one with a {@link Where}
   */
  static Iterator<byte[]> together(
      Substitution what,
      SolvePlan plan,
      List<Supplier<Iterator<TaskOutput>>> kept,
      List<byte[]> given,
      int[] threads) {
    var made = new ArrayList<byte[]>();
    var before = new ArrayList<Sparse>();
    for (int k = 0; k < kept.size(); k++) {
      Sparse in = VectorCodec.decodeSparse(given.get(k));
      before.forEach(b -> copy(b, in));
      List<byte[]> solved = run(what, plan, kept.get(k).get(), in, null, threads);
      before.add(VectorCodec.decodeSparse(solved.get(0)));
      made.addAll(solved);
    }
    return made.iterator();
  }

  /** Copies the values at common positions; those of {@code from} ascend. */
  private static void copy(Sparse from, Sparse to) {
    int width = to.width();
    for (int i = 0; i < to.position().length; i++) {
      int at = Arrays.binarySearch(from.position(), to.position()[i]);
      if (at >= 0) {
        System.arraycopy(from.value(), at * width, to.value(), i * width, width);
      }
    }
  }

  /** A task's stored content whose report has been read. */
  private static Iterator<TaskOutput> again(TaskOutput report, Iterator<TaskOutput> rest) {
    var others = Spliterators.spliteratorUnknownSize(rest, Spliterator.ORDERED);
    return Stream.concat(Stream.of(report), StreamSupport.stream(others, false)).iterator();
  }

  /**
   * The solution of a device of this JVM; empty, with a reason, if it has none, or a wrong one.
   *
   * @param factorization under which R has stayed, if it has
   * @param solve with the R of the task
   * @param why receives the reason, once
   */
  static Optional<double[]> onDevice(
      @Nullable String factorization,
      int task,
      Function<ResidentFactor, Optional<double[]>> solve,
      List<String> why) {
    ResidentFactors all = ResidentFactors.ofJvm();
    if (factorization == null) {
      why.add(Residence.NONE.reason());
      return Optional.empty();
    }
    Residence residence = all.find(factorization, task);
    if (residence.factor().isEmpty()) {
      why.add(residence.reason());
      return Optional.empty();
    }
    try {
      Optional<double[]> x = solve.apply(residence.factor().get());
      if (x.isPresent()) {
        return x;
      }
      why.add("its memory on the device was needed, or not used for a while");
    } catch (InsufficientMemoryException e) {
      why.add("no room on the device: " + e.getMessage());
      return Optional.empty();
    } catch (IntegrityFailure e) {
      why.add(e.getMessage());
    } catch (FatalCudaException e) {
      // An executor ends and is replaced; this solve does not need the device.
      DyingExecutor.leave(e);
      why.add(e.getMessage());
    }
    all.drop(factorization, task, why.get(0));
    return Optional.empty();
  }

  /** Whether R of a task is on a device of this JVM, as far as is known. */
  static boolean isResident(String factorization, int task) {
    return ResidentFactors.ofJvm().find(factorization, task).factor().isPresent();
  }

  /**
   * Where a factorization's tasks have solved, in one line; empty if it had no devices. A task that
   * has solved several times counts as resident if it was each time.
   */
  static String summary(List<Where> all) {
    var byTask = new TreeMap<Integer, Where>();
    all.forEach(w -> byTask.merge(w.task(), w, (a, b) -> a.resident() ? b : a));
    long resident = byTask.values().stream().filter(Where::resident).count();
    var reasons =
        byTask.values().stream()
            .filter(w -> !w.reason().isEmpty())
            .map(w -> "task %d: %s".formatted(w.task(), w.reason()))
            .limit(3)
            .toList();
    if (resident == 0 && reasons.isEmpty()) {
      return "";
    }
    return "R on the device for %d of %d task%s%s"
        .formatted(
            resident,
            byTask.size(),
            byTask.size() == 1 ? "" : "s",
            reasons.isEmpty() ? "" : "; " + String.join("; ", reasons));
  }
}
