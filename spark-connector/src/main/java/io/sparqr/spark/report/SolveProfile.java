/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.io.Serializable;
import java.util.List;

/**
 * Times and places of the work of a solve, for charts: recorded on request ({@code
 * GpuSparseQR.Builder.profile}), shown by {@link SolveReport#toHtml()}. Its size is bounded for
 * every problem: a few thousand records, and two grids. All times are seconds since {@code
 * beganMillis}, by the clock of the machine in question.
 *
 * @param beganMillis begin of the solve, in milliseconds since 1970
 * @param phases in the order in which they began
 * @param tasks of the factorization: every finished attempt
 * @param memory of the driver and the executors, each in order of time
 * @param fronts the assembly tree: the fronts with the most flops, and everything below each of
 *     them as one node; parents come before children
 * @param sizes counts of all fronts by size
 * @param matrix positions of A's entries, rows and columns in the order of the factorization; no
 *     cells if the driver never held the pattern
 * @param factor positions of R's entries
 * @param foretoldSeconds of the factorization, predicted by the model that cut the tree
 */
public record SolveProfile(
    long beganMillis,
    List<Phase> phases,
    List<Task> tasks,
    List<Memory> memory,
    List<Front> fronts,
    List<FrontSize> sizes,
    Spy matrix,
    Spy factor,
    double foretoldSeconds)
    implements Serializable {

  /** The profile of a solve without profiling. */
  public static final SolveProfile NONE =
      new SolveProfile(
          0, List.of(), List.of(), List.of(), List.of(), List.of(), Spy.NONE, Spy.NONE, 0);

  /** Copies the lists. */
  public SolveProfile {
    phases = List.copyOf(phases);
    tasks = List.copyOf(tasks);
    memory = List.copyOf(memory);
    fronts = List.copyOf(fronts);
    sizes = List.copyOf(sizes);
  }

  /** Whether there is anything to show. */
  public boolean any() {
    return beganMillis > 0;
  }

  /**
   * A phase of the solve, on the driver.
   *
   * @param name as in {@link ProgressListener.Progress#phase()}
   * @param detail its first detail line
   */
  public record Phase(String name, String detail, double begin, double end)
      implements Serializable {}

  /**
   * A subtree task. On the page the figures are not grouped; their keys are the component names.
   *
   * @param id of the task in the cut of the tree
   * @param level of the task tree
   * @param begin time before its rows are decoded
   * @param end time when its rows of R are complete
   * @param deviceTimes what its devices did, if it had any
   */
  public record Task(
      int id,
      int level,
      @JsonUnwrapped Run run,
      double begin,
      double end,
      @JsonUnwrapped Work work,
      @JsonUnwrapped Peak peak,
      List<DeviceTime> deviceTimes)
      implements Serializable {

    /** Copies the list. */
    public Task {
      deviceTimes = List.copyOf(deviceTimes);
    }
  }

  /**
   * Which attempt at a task this is, and where it ran.
   *
   * @param attempt Spark's, from 0
   * @param place the JVM: "driver" in local mode, otherwise the executor and its host
   * @param device name of the GPU, empty on CPUs
   * @param threads host threads allowed for the task
   */
  public record Run(int attempt, String place, String device, int threads)
      implements Serializable {}

  /**
   * What the thread blocks of a device did in a memory stage of a task. Each device's time begins
   * at its own first block.
   *
   * @param stage memory stage of the task, from 0; one that was done again is there again
   * @param device name and PCI address
   * @param slots blocks that the device can run at the same time
   * @param seconds from its first block's begin to the last one's end
   * @param blocks that ended
   * @param binSeconds length of a bin of time; the last one ends with the stage
   * @param spent by cause; in every bin they add up to slots times its length
   */
  public record DeviceTime(
      int stage,
      String device,
      int slots,
      double seconds,
      long blocks,
      double binSeconds,
      List<Spent> spent)
      implements Serializable {

    /** Copies the list. */
    public DeviceTime {
      spent = List.copyOf(spent);
    }
  }

  /**
   * Time of a device's blocks.
   *
   * @param cause what they did, or what they waited for
   * @param share of all block slots in the whole stage
   * @param bins by bin of time: seconds, summed over the blocks
   */
  public record Spent(String cause, double share, List<Double> bins) implements Serializable {

    /** Copies the list. */
    public Spent {
      bins = List.copyOf(bins);
    }
  }

  /**
   * The work of a task.
   *
   * @param fronts number of its fronts
   * @param flops of its fronts by the analysis
   * @param flopsDone flops executed, padding included
   * @param foretoldSeconds flops divided by the rate of the worker for which it was planned
   */
  public record Work(int fronts, double flops, double flopsDone, double foretoldSeconds)
      implements Serializable {}

  /**
   * The most memory that a task took.
   *
   * @param hostBytes peak heap of its rows, fronts and contribution blocks
   * @param foretoldHostBytes the plan's prediction of {@code hostBytes}
   * @param deviceBytes peak device memory
   */
  public record Peak(long hostBytes, long foretoldHostBytes, long deviceBytes)
      implements Serializable {}

  /**
   * Memory of a JVM at one time.
   *
   * @param place as in {@link Run}
   * @param heapBytes heap in use, garbage included
   * @param deviceBytes held on devices by this JVM
   */
  public record Memory(String place, double at, long heapBytes, long deviceBytes)
      implements Serializable {}

  /**
   * A node of the assembly tree.
   *
   * @param id index in the list
   * @param parent id of the parent node, -1 for a root
   * @param front number of the front, or -1 for several fronts
   * @param count fronts in this node
   * @param task the task of the front; of the largest if there are several
   * @param rows rows of the front at full rank; the maximum if there are several
   * @param columns columns of the front; the maximum if there are several
   * @param pivots pivot columns; the sum if there are several
   * @param flops flops of the node alone, without descendants
   */
  public record Front(
      int id,
      int parent,
      int front,
      int count,
      int task,
      long rows,
      int columns,
      int pivots,
      double flops)
      implements Serializable {}

  /**
   * The fronts in one range of sizes.
   *
   * @param from minimum number of columns, a power of 2
   * @param to maximum number of columns, exclusive
   * @param fronts number of fronts
   * @param flops of all of them
   */
  public record FrontSize(long from, long to, int fronts, double flops) implements Serializable {}

  /**
   * Entries of a matrix counted on a grid: cell (i, j) covers rows [i rows / gridRows, (i + 1) rows
   * / gridRows) and likewise for columns.
   *
   * @param cells cells with entries, row by row
   */
  public record Spy(long rows, long columns, int gridRows, int gridColumns, List<Cell> cells)
      implements Serializable {
    static final Spy NONE = new Spy(0, 0, 0, 0, List.of());

    /** Copies the cells. */
    public Spy {
      cells = List.copyOf(cells);
    }

    /** No counts: the matrix was not examined. */
    public static Spy none() {
      return NONE;
    }

    /** Entries in all cells. */
    public long entries() {
      return cells.stream().mapToLong(Cell::entries).sum();
    }
  }

  /** A cell of a grid, with its number of entries. */
  public record Cell(int row, int column, long entries) implements Serializable {}
}
