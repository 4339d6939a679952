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
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * R'R x = c by one task that has whole trees: on its device if R has stayed there, otherwise with
 * the stored rows. Both triangular solves are done with the same R, which matters: two
 * factorizations of one matrix may differ by the signs of rows of R, but not in R'R.
 */
public final class NormalSolve {

  private NormalSolve() {}

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
   * @param kept the task's stored content, which is not read if R has stayed on the device
   * @param given c at the task's pivots
   * @param factorization under which R has stayed; null: nowhere
   * @param threads threads for each task
   * @return a frame with x at the task's pivots, then one with a {@link Where}
   */
  public static List<byte[]> run(
      SolvePlan plan, Iterator<Object> kept, Sparse given, String factorization, int[] threads) {
    Object report = kept.next();
    int task = TaskReport.decode((byte[]) report).task();
    var why = new ArrayList<String>();
    Optional<double[]> x =
        onDevice(factorization, task, r -> r.solve(given.value(), given.width()), why);
    if (x.isPresent()) {
      return List.of(
          VectorCodec.encodeSparse(new Sparse(given.position(), x.get(), given.width())),
          ObjectCodec.encode(new Where(task, true, "")));
    }
    return List.of(
        TriangularSolve.normal(plan, again(report, kept), given, threads),
        ObjectCodec.encode(new Where(task, false, why.get(0))));
  }

  /**
   * R x = c with the right-hand sides stored with R, on the task's device or with the stored rows.
   *
   * @param given of the right width; its values are not used
   * @return a frame with x at the task's pivots
   */
  public static byte[] stored(
      SolvePlan plan, Iterator<Object> kept, Sparse given, String factorization, int[] threads) {
    Object report = kept.next();
    int task = TaskReport.decode((byte[]) report).task();
    Optional<double[]> x =
        onDevice(factorization, task, ResidentFactor::solveStored, new ArrayList<>());
    if (x.isPresent()) {
      SubtreeTask whole = plan.partition().tasks().get(task);
      int[] pivots = TriangularSolve.pivots(plan.analysis(), whole);
      return VectorCodec.encodeSparse(new Sparse(pivots, x.get(), given.width()));
    }
    return TriangularSolve.back(plan, again(report, kept), given, true, threads);
  }

  /** A task's stored content whose report has been read. */
  private static Iterator<Object> again(Object report, Iterator<Object> rest) {
    var others = Spliterators.spliteratorUnknownSize(rest, Spliterator.ORDERED);
    return Stream.concat(Stream.of(report), StreamSupport.stream(others, false)).iterator();
  }

  /**
   * The solution of a device of this JVM; empty, with a reason, if it has none, or a wrong one.
   *
   * @param factorization under which R has stayed; null: nowhere
   * @param solve with the R of the task
   * @param why receives the reason, once
   */
  static Optional<double[]> onDevice(
      String factorization,
      int task,
      Function<ResidentFactor, Optional<double[]>> solve,
      List<String> why) {
    ResidentFactors all = ResidentFactors.ofJvm();
    Residence residence = factorization == null ? Residence.NONE : all.find(factorization, task);
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

  /**
   * Where a factorization's tasks have solved, in one line; empty if it had no devices.
   *
   * @param all one for each task
   */
  static String summary(List<Where> all) {
    long resident = all.stream().filter(Where::resident).count();
    var reasons =
        all.stream()
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
            all.size(),
            all.size() == 1 ? "" : "s",
            reasons.isEmpty() ? "" : "; " + String.join("; ", reasons));
  }
}
