/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The record of a subtree's factorization. Merging is associative; counts and times add, peaks take
 * the maximum.
 *
 * @param backend name of the backend, such as "cpu (OpenBLAS 0.3.31)" or "cuda"
 * @param device device name and PCI address, empty on a CPU
 * @param fronts fronts factored
 * @param rank live pivot columns
 * @param flopsDone flops executed, padding included
 * @param stages memory stages on the device
 * @param rounds rounds of the bucket scheduler; a device runs many of them per launch
 * @param tasks device tasks
 * @param h2dBytes host to device
 * @param d2hBytes device to host
 * @param peakDeviceBytes most device memory held
 * @param peakHostBytes peak heap of rows, fronts and contribution blocks, and of R if that is there
 * @param factorSeconds wall time of the whole call
 * @param droppedNorm 2-norm of the part dropped by rank detection
 * @param normDeparture largest relative departure of the column sums in accepted results ({@code
 *     io.sparqr.numeric.integrity}); 0 if nothing was compared
 * @param redoneTasks tasks repeated because their sums departed
 * @param warnings in order of occurrence
 */
public record FactorSummary(
    String backend,
    String device,
    long fronts,
    long rank,
    double flopsDone,
    long stages,
    long rounds,
    long tasks,
    long h2dBytes,
    long d2hBytes,
    long peakDeviceBytes,
    long peakHostBytes,
    double factorSeconds,
    double droppedNorm,
    double normDeparture,
    long redoneTasks,
    List<String> warnings)
    implements Serializable {

  /** Copies the list into a serializable one. */
  public FactorSummary {
    warnings = new ArrayList<>(warnings);
  }

  /** A CPU run's summary. */
  public static FactorSummary cpu(
      String backend,
      long fronts,
      long rank,
      double flopsDone,
      long peakHostBytes,
      double factorSeconds,
      double droppedNorm) {
    return new FactorSummary(
        backend,
        "",
        fronts,
        rank,
        flopsDone,
        0,
        0,
        0,
        0,
        0,
        0,
        peakHostBytes,
        factorSeconds,
        droppedNorm,
        0,
        0,
        List.of());
  }

  /** Both summaries merged. */
  public FactorSummary merge(FactorSummary other) {
    var all = new ArrayList<>(warnings);
    other.warnings.stream().filter(w -> !all.contains(w)).forEach(all::add);
    return new FactorSummary(
        join(backend, other.backend),
        join(device, other.device),
        fronts + other.fronts,
        rank + other.rank,
        flopsDone + other.flopsDone,
        stages + other.stages,
        rounds + other.rounds,
        tasks + other.tasks,
        h2dBytes + other.h2dBytes,
        d2hBytes + other.d2hBytes,
        Math.max(peakDeviceBytes, other.peakDeviceBytes),
        Math.max(peakHostBytes, other.peakHostBytes),
        factorSeconds + other.factorSeconds,
        Math.hypot(droppedNorm, other.droppedNorm),
        Math.max(normDeparture, other.normDeparture),
        redoneTasks + other.redoneTasks,
        all);
  }

  /** A copy with at least this peak of host memory. */
  public FactorSummary withHostPeak(long bytes) {
    return new FactorSummary(
        backend,
        device,
        fronts,
        rank,
        flopsDone,
        stages,
        rounds,
        tasks,
        h2dBytes,
        d2hBytes,
        peakDeviceBytes,
        Math.max(peakHostBytes, bytes),
        factorSeconds,
        droppedNorm,
        normDeparture,
        redoneTasks,
        warnings);
  }

  /** A copy with at least this departure. */
  public FactorSummary withDeparture(double seen) {
    return with(Math.max(normDeparture, seen), redoneTasks, warnings);
  }

  /** A copy with more repeated tasks. */
  public FactorSummary withRedone(long more) {
    return with(normDeparture, redoneTasks + more, warnings);
  }

  /** A copy for a repeated task, with the reasons. */
  public FactorSummary doneAgain(List<String> why) {
    var all = new ArrayList<>(why);
    all.addAll(warnings);
    return with(normDeparture, redoneTasks + 1, all);
  }

  /** A copy with one more warning. */
  public FactorSummary warning(String what) {
    var all = new ArrayList<>(warnings);
    all.add(what);
    return with(normDeparture, redoneTasks, all);
  }

  private FactorSummary with(double departure, long redone, List<String> all) {
    return new FactorSummary(
        backend,
        device,
        fronts,
        rank,
        flopsDone,
        stages,
        rounds,
        tasks,
        h2dBytes,
        d2hBytes,
        peakDeviceBytes,
        peakHostBytes,
        factorSeconds,
        droppedNorm,
        departure,
        redone,
        all);
  }

  private static String join(String a, String b) {
    if (a.isEmpty() || List.of(a.split(" \\+ ")).contains(b) || b.isEmpty()) {
      return a.isEmpty() ? b : a;
    }
    return a + " + " + b;
  }
}
