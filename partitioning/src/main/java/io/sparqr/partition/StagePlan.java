/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.symbolic.FrontMemory;
import java.io.Serializable;
import java.util.Arrays;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;

/**
 * The memory stages of a task: fronts that are on the device together. Fronts are taken in
 * postorder with a running sum; a new stage begins when the next front would exceed the budget
 * (Yeralan, Davis and Ranka, section 3.4). A front counts with its own bytes (its rows of A
 * included) and the contribution blocks of those children that are in an earlier stage or another
 * task, since these return to the device with it. A child in the same stage is already counted as a
 * front.
 *
 * <p>A pure function of sizes: bytes are given as functions of the front because padding differs by
 * backend.
 *
 * @param fronts the task's fronts, ascending
 * @param stageStart size stages+1; stage s is {@code fronts[stageStart[s] .. stageStart[s+1])}
 * @param stageBytes size stages; bytes of each stage
 * @param budgetBytes the budget of the plan
 */
public record StagePlan(int[] fronts, int[] stageStart, long[] stageBytes, long budgetBytes)
    implements Serializable {

  /** A plan, or the reason why there is none. */
  public sealed interface Outcome permits Feasible, Infeasible {}

  /**
   * The budget suffices.
   *
   * @param plan the stages
   */
  public record Feasible(StagePlan plan) implements Outcome {}

  /**
   * A front does not fit even alone.
   *
   * @param front the first such front
   * @param requiredBytes the front's and its children's blocks' bytes
   * @param availableBytes the budget
   */
  public record Infeasible(int front, long requiredBytes, long availableBytes) implements Outcome {

    /** This outcome as an error, for callers that cannot continue. */
    public InsufficientMemoryException asException() {
      return new InsufficientMemoryException(
          "front "
              + front
              + " needs "
              + requiredBytes
              + " bytes with its children's blocks, the budget is "
              + availableBytes,
          requiredBytes,
          availableBytes);
    }
  }

  /** Number of stages. */
  public int stages() {
    return stageStart.length - 1;
  }

  /** Fronts of stage s, ascending; a copy. */
  public int[] stage(int s) {
    return Arrays.copyOfRange(fronts, stageStart[s], stageStart[s + 1]);
  }

  /** The largest stage's bytes; 0 without stages. */
  public long peakBytes() {
    return Arrays.stream(stageBytes).max().orElse(0);
  }

  /**
   * Plans the stages of a task. O(fronts log fronts).
   *
   * @param fronts ascending
   * @param parent parent front of a front, or -1, as {@code SymbolicAnalysis::parent}
   * @param inputs the task's input blocks (fronts of other tasks), any order
   * @param frontBytes bytes of a front on the device, its rows of A included
   * @param blockBytes bytes of a front's contribution block on the device
   * @param budgetBytes limit for the bytes of a stage
   */
  public static Outcome plan(
      int[] fronts,
      IntUnaryOperator parent,
      int[] inputs,
      IntToLongFunction frontBytes,
      IntToLongFunction blockBytes,
      long budgetBytes) {
    int count = fronts.length;
    // Bytes per front: blocks from other tasks and from stages before the one in stageOfLast;
    // blocks from that stage.
    long[] earlier = new long[count];
    long[] latest = new long[count];
    int[] stageOfLatest = new int[count];
    for (int c : inputs) {
      int at = Arrays.binarySearch(fronts, parent.applyAsInt(c));
      earlier[at] = FrontMemory.add(earlier[at], blockBytes.applyAsLong(c));
    }
    int[] start = new int[count + 1];
    long[] bytes = new long[count];
    int stage = 0;
    for (int k = 0; k < count; k++) {
      int f = fronts[k];
      long own = FrontMemory.add(frontBytes.applyAsLong(f), earlier[k]);
      long alone = FrontMemory.add(own, latest[k]);
      if (alone > budgetBytes) {
        return new Infeasible(f, alone, budgetBytes);
      }
      long here = stageOfLatest[k] == stage ? own : alone;
      if (FrontMemory.add(bytes[stage], here) > budgetBytes) {
        start[++stage] = k;
        here = alone;
      }
      bytes[stage] += here;
      int p = parent.applyAsInt(f);
      int at = p < 0 ? -1 : place(fronts, k, p);
      if (at >= 0) {
        if (stageOfLatest[at] != stage) {
          earlier[at] = FrontMemory.add(earlier[at], latest[at]);
          latest[at] = 0;
          stageOfLatest[at] = stage;
        }
        latest[at] = FrontMemory.add(latest[at], blockBytes.applyAsLong(f));
      }
    }
    int stages = count == 0 ? 0 : stage + 1;
    start[stages] = count;
    return new Feasible(
        new StagePlan(
            fronts, Arrays.copyOf(start, stages + 1), Arrays.copyOf(bytes, stages), budgetBytes));
  }

  /** The place of a later front than the k-th, negative if it has none; O(1) without gaps. */
  private static int place(int[] fronts, int k, int front) {
    int guess = k + front - fronts[k];
    return guess < fronts.length && fronts[guess] == front
        ? guess
        : Arrays.binarySearch(fronts, k + 1, fronts.length, front);
  }
}
