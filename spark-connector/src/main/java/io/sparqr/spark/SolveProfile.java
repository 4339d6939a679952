/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.Serializable;
import java.util.List;

/**
 * Time and place of everything in a solve, for pictures: recorded on request ({@code
 * GpuSparseQR.Builder.profile}), shown by {@link SolveReport#toHtml()}. Its size is bounded for
 * every problem: a few thousand records, and two grids. All times are seconds since {@code
 * beganMillis}, by the clock of the machine that they happened on.
 *
 * @param beganMillis when the solve began, since 1970
 * @param phases in the order they began
 * @param tasks of the factorization, each attempt that came to its end
 * @param memory of the driver and the executors, in the order of time for each
 * @param fronts the assembly tree: the fronts of most flops, and what is below each of them as one
 *     node; parents come before children
 * @param sizes all fronts by size
 * @param matrix where A's entries are, rows and columns in the order of the factorization; no cells
 *     where the driver never had the pattern
 * @param factor where R's entries are
 * @param foretoldSeconds of the factorization, by the model that cut the tree
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

  /** Of a solve that was not asked for one. */
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
   * @param name as {@link ProgressListener.Progress#phase()} has it
   * @param detail of its first moment
   */
  public record Phase(String name, String detail, double begin, double end)
      implements Serializable {}

  /**
   * A subtree task.
   *
   * @param id of the task in the cut of the tree
   * @param level of the task tree
   * @param attempt Spark's, from 0
   * @param place the JVM: "driver" in local mode, else the executor and its host
   * @param device of a GPU, empty on CPUs
   * @param threads of the host that it might use
   * @param begin before its rows are decoded
   * @param end when its rows of R are there
   * @param fronts of it
   * @param flops of its fronts by the analysis
   * @param flopsDone executed, padding included
   * @param foretoldSeconds flops over the rate of the worker that it was planned for
   * @param hostBytes most heap in rows, fronts, contribution blocks and R
   * @param foretoldHostBytes the same as the plan has it
   * @param deviceBytes most device memory
   */
  public record Task(
      int id,
      int level,
      int attempt,
      String place,
      String device,
      int threads,
      double begin,
      double end,
      int fronts,
      double flops,
      double flopsDone,
      double foretoldSeconds,
      long hostBytes,
      long foretoldHostBytes,
      long deviceBytes)
      implements Serializable {}

  /**
   * Memory of a JVM at a time.
   *
   * @param place as a task has it
   * @param heapBytes in use, garbage included
   * @param deviceBytes held on devices by this JVM
   */
  public record Memory(String place, double at, long heapBytes, long deviceBytes)
      implements Serializable {}

  /**
   * A node of the assembly tree.
   *
   * @param id place in the list
   * @param parent id of the parent node, -1 for a root
   * @param front number of the front, or -1 where several stand together
   * @param count fronts that the node stands for
   * @param task that factors it, of several the one of the largest
   * @param rows of the front at full rank, of several the most
   * @param columns of the front, of several the most
   * @param pivots pivot columns, of several together
   * @param flops of it alone, descendants not included
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
   * Fronts of about one size.
   *
   * @param from least number of columns, a power of 2
   * @param to beyond the greatest number of columns
   * @param fronts how many
   * @param flops of all of them
   */
  public record FrontSize(long from, long to, int fronts, double flops) implements Serializable {}

  /**
   * Entries of a matrix counted on a grid: cell (i, j) has rows [i rows / gridRows, (i + 1) rows /
   * gridRows) and the columns alike.
   *
   * @param cells those with entries, by rows
   */
  public record Spy(long rows, long columns, int gridRows, int gridColumns, List<Cell> cells)
      implements Serializable {
    static final Spy NONE = new Spy(0, 0, 0, 0, List.of());

    /** Copies the cells. */
    public Spy {
      cells = List.copyOf(cells);
    }

    /** Not looked at. */
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
