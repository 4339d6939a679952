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
 * @param work what was done
 * @param deviceUse what a device did of it
 * @param gram fronts by their Gram matrix
 * @param peakHostBytes peak heap of rows, fronts and contribution blocks, and of R if that is there
 * @param check what the column sums showed
 * @param warnings in order of occurrence
 */
public record FactorSummary(
    String backend,
    String device,
    Work work,
    DeviceUse deviceUse,
    Gram gram,
    long peakHostBytes,
    Check check,
    List<String> warnings)
    implements Serializable {

  /**
   * Fronts of many sparse rows that were tried by their Gram matrix.
   *
   * @param tried fronts
   * @param refused those of them that were factored by reflectors all the same, because what was
   *     measured was not as small as it has to be
   * @param flops of all of them
   * @param error largest backward error of a column relative to its norm, as measured
   */
  public record Gram(long tried, long refused, double flops, double error) implements Serializable {

    /** Of a task without such fronts. */
    public static final Gram NONE = new Gram(0, 0, 0, 0);

    /** Both together. */
    public Gram plus(Gram other) {
      return new Gram(
          tried + other.tried,
          refused + other.refused,
          flops + other.flops,
          Math.max(error, other.error));
    }
  }

  /**
   * What was done.
   *
   * @param fronts fronts factored
   * @param rank live pivot columns
   * @param flops executed, padding included
   * @param seconds wall time of the whole call
   * @param droppedNorm 2-norm of the part dropped by rank detection
   */
  public record Work(long fronts, long rank, double flops, double seconds, double droppedNorm)
      implements Serializable {

    private Work plus(Work other) {
      return new Work(
          fronts + other.fronts,
          rank + other.rank,
          flops + other.flops,
          seconds + other.seconds,
          Math.hypot(droppedNorm, other.droppedNorm));
    }
  }

  /**
   * The part of a device.
   *
   * @param stages memory stages
   * @param rounds rounds of the bucket scheduler; a device runs many of them per launch
   * @param tasks device tasks
   * @param h2dBytes host to device
   * @param d2hBytes device to host
   * @param peakBytes most device memory held
   */
  public record DeviceUse(
      long stages, long rounds, long tasks, long h2dBytes, long d2hBytes, long peakBytes)
      implements Serializable {

    /** Of a task that used no device. */
    public static final DeviceUse NONE = new DeviceUse(0, 0, 0, 0, 0, 0);

    private DeviceUse plus(DeviceUse other) {
      return new DeviceUse(
          stages + other.stages,
          rounds + other.rounds,
          tasks + other.tasks,
          h2dBytes + other.h2dBytes,
          d2hBytes + other.d2hBytes,
          Math.max(peakBytes, other.peakBytes));
    }
  }

  /**
   * What the column sums showed.
   *
   * @param normDeparture largest relative departure of the column sums in accepted results ({@code
   *     io.sparqr.numeric.integrity}); 0 if nothing was compared
   * @param redoneTasks tasks repeated because their sums departed
   */
  public record Check(double normDeparture, long redoneTasks) implements Serializable {

    /** Of a task whose result was not checked. */
    public static final Check NONE = new Check(0, 0);

    private Check plus(Check other) {
      return new Check(
          Math.max(normDeparture, other.normDeparture), redoneTasks + other.redoneTasks);
    }
  }

  /** Of no task at all, to begin a sum with. */
  public static FactorSummary none() {
    return cpu("none", new Work(0, 0, 0, 0, 0), 0);
  }

  /** Copies the list into a serializable one. */
  public FactorSummary {
    warnings = new ArrayList<>(warnings);
  }

  /** A CPU run's summary. */
  public static FactorSummary cpu(String backend, Work work, long peakHostBytes) {
    return new FactorSummary(
        backend, "", work, DeviceUse.NONE, Gram.NONE, peakHostBytes, Check.NONE, List.of());
  }

  /** Both summaries merged. */
  public FactorSummary merge(FactorSummary other) {
    var all = new ArrayList<>(warnings);
    other.warnings.stream().filter(w -> !all.contains(w)).forEach(all::add);
    return new FactorSummary(
        join(backend, other.backend),
        join(device, other.device),
        work.plus(other.work),
        deviceUse.plus(other.deviceUse),
        gram.plus(other.gram),
        Math.max(peakHostBytes, other.peakHostBytes),
        check.plus(other.check),
        all);
  }

  /** A copy with at least this peak of host memory. */
  public FactorSummary withHostPeak(long bytes) {
    return new FactorSummary(
        backend, device, work, deviceUse, gram, Math.max(peakHostBytes, bytes), check, warnings);
  }

  /** A copy with more fronts by their Gram matrix. */
  public FactorSummary withGram(Gram more) {
    return new FactorSummary(
        backend, device, work, deviceUse, gram.plus(more), peakHostBytes, check, warnings);
  }

  /** A copy with at least this departure. */
  public FactorSummary withDeparture(double seen) {
    return with(new Check(seen, 0), warnings);
  }

  /** A copy with more repeated tasks. */
  public FactorSummary withRedone(long more) {
    return with(new Check(0, more), warnings);
  }

  /** A copy for a repeated task, with the reasons. */
  public FactorSummary doneAgain(List<String> why) {
    var all = new ArrayList<>(why);
    all.addAll(warnings);
    return with(new Check(0, 1), all);
  }

  /** A copy with one more warning. */
  public FactorSummary warning(String what) {
    var all = new ArrayList<>(warnings);
    all.add(what);
    return with(Check.NONE, all);
  }

  private FactorSummary with(Check more, List<String> all) {
    return new FactorSummary(
        backend, device, work, deviceUse, gram, peakHostBytes, check.plus(more), all);
  }

  /** {@link Work#fronts}. */
  public long fronts() {
    return work.fronts;
  }

  /** {@link Work#rank}. */
  public long rank() {
    return work.rank;
  }

  /** {@link Work#flops}. */
  public double flopsDone() {
    return work.flops;
  }

  /** {@link DeviceUse#stages}. */
  public long stages() {
    return deviceUse.stages;
  }

  /** {@link DeviceUse#rounds}. */
  public long rounds() {
    return deviceUse.rounds;
  }

  /** {@link DeviceUse#tasks}. */
  public long tasks() {
    return deviceUse.tasks;
  }

  /** {@link DeviceUse#h2dBytes}. */
  public long h2dBytes() {
    return deviceUse.h2dBytes;
  }

  /** {@link DeviceUse#d2hBytes}. */
  public long d2hBytes() {
    return deviceUse.d2hBytes;
  }

  /** {@link DeviceUse#peakBytes}. */
  public long peakDeviceBytes() {
    return deviceUse.peakBytes;
  }

  /** {@link Work#seconds}. */
  public double factorSeconds() {
    return work.seconds;
  }

  /** {@link Work#droppedNorm}. */
  public double droppedNorm() {
    return work.droppedNorm;
  }

  /** {@link Check#normDeparture}. */
  public double normDeparture() {
    return check.normDeparture;
  }

  /** {@link Check#redoneTasks}. */
  public long redoneTasks() {
    return check.redoneTasks;
  }

  private static String join(String a, String b) {
    if (a.isEmpty() || List.of(a.split(" \\+ ")).contains(b) || b.isEmpty()) {
      return a.isEmpty() ? b : a;
    }
    return a + " + " + b;
  }
}
