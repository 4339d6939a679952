/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Equal executors, for forecasts before there is a cluster.
 *
 * @param worker a CPU executor, or one of an executor's devices; the name is ignored
 * @param devices of each executor; 0: the worker is a CPU executor
 * @param network bytes per second between two workers
 * @param levelSeconds of a Spark stage
 * @param host the executor's cores, which read the rows; the worker itself without devices
 */
public record EqualExecutors(
    ResourceModel.Worker worker,
    int devices,
    double network,
    double levelSeconds,
    ResourceModel.Worker host) {

  /** Executors of default rates. */
  public EqualExecutors(ResourceModel.Worker worker, int devices) {
    this(worker, devices, ResourceModel.NETWORK, ResourceModel.LEVEL_SECONDS);
  }

  /** As above, with the rates of network and stages. */
  public EqualExecutors(
      ResourceModel.Worker worker, int devices, double network, double levelSeconds) {
    this(
        worker,
        devices,
        network,
        levelSeconds,
        devices == 0
            ? worker
            : ResourceModel.Worker.cpu("", ResourceModel.EXECUTOR_FLOPS, worker.memoryBytes()));
  }

  /** Checks the number of devices. */
  public EqualExecutors {
    if (devices < 0 || worker.device() != devices > 0) {
      throw new IllegalArgumentException(
          devices + " devices an executor, and a worker that is " + worker);
    }
  }

  /** Workers of an executor. */
  public int workersEach() {
    return Math.max(1, devices);
  }

  /** The model of so many executors: a worker each, or one for each of their devices. */
  public ResourceModel model(int executors) {
    var list = new ArrayList<ResourceModel.Worker>();
    for (int e = 0; e < executors; e++) {
      for (int d = 0; d < workersEach(); d++) {
        list.add(worker.named(devices == 0 ? "worker " + e : "executor " + e + ", device " + d));
      }
    }
    double blocks = devices == 0 ? Double.POSITIVE_INFINITY : ResourceModel.DEVICE_BLOCKS;
    return new ResourceModel(list, network, levelSeconds, blocks);
  }

  /**
   * What so many executors take.
   *
   * @param cut the cut of the tree
   * @param seconds of the executors: for the rows, read twice and among CPUs combined ({@link
   *     RowCost}), and for the factorization
   */
  public record Forecast(SpreadCut cut, double seconds) {

    /** The cut, with the seconds of the rows in its estimate. */
    public TreePartition partition() {
      TreePartition p = cut.partition();
      return new TreePartition(
          p.tasks(), p.levels(), p.taskOfFront(), seconds, p.lowerBoundSeconds());
    }
  }

  /** Cuts the tree for so many executors and foretells their seconds. */
  public Forecast forecast(SymbolicAnalysis analysis, PartitionOptions options, int executors) {
    return forecast(analysis, options, executors, 1);
  }

  /**
   * As above, for a larger problem of the same tree: all fronts are wider and taller by the same
   * factor, which is the cube root of what their work grows by; their bytes, blocks and rows of A
   * grow by its square. So the rates, and the least work of a task, are divided by that.
   *
   * @param work what the work grows by, 1 for this problem
   */
  Forecast forecast(
      SymbolicAnalysis analysis, PartitionOptions options, int executors, double work) {
    double bytes = Math.pow(work, 2 / 3.0);
    ResourceModel one = model(executors);
    List<ResourceModel.Worker> workers =
        one.workers().stream().map(w -> w.share(1 / work, 1 / bytes)).toList();
    SpreadCut cut =
        SpreadCut.of(
            analysis,
            new ResourceModel(
                workers, network / bytes, levelSeconds, one.blockBytesPerSecond() / bytes),
            new PartitionOptions(
                options.tasksPerWorker(),
                options.maxLevels(),
                options.minLevels(),
                options.minTaskFlops() / work,
                options.combinedParts()));
    double rows = cut.rowSeconds();
    if (devices > 0) {
      var hosts =
          new ResourceModel(
              Collections.nCopies(executors, host.share(1 / work, 1 / bytes)),
              network,
              levelSeconds);
      rows = new RowCost(analysis.nonzeros(), 0).seconds(hosts);
    }
    return new Forecast(cut, rows + cut.partition().estimatedSeconds());
  }

  /**
   * Cuts for several numbers of executors.
   *
   * @param counts each at least 1
   */
  public WhatIf whatIf(SymbolicAnalysis analysis, PartitionOptions options, int... counts) {
    return WhatIf.of(analysis, this, options, counts);
  }

  /**
   * From which size of problem on each number of executors pays. A cut of the tree for each number
   * and size, some ten of them a number.
   *
   * @param counts ascending, from 1 on
   */
  public PayingSizes sizes(SymbolicAnalysis analysis, PartitionOptions options, int... counts) {
    return PayingSizes.of(this, analysis, options, counts);
  }

  /** The bound of so many executors for any schedule, in seconds. */
  public double boundSeconds(SymbolicAnalysis analysis, int executors) {
    return MachineBound.ofEqual(worker, executors * workersEach()).seconds(analysis, 1);
  }

  /**
   * How many of some executors a solve uses, as {@link PayingWorkers} chooses them: those with
   * devices by the factorization alone, whose rows all executors read.
   */
  public PayingWorkers.Choice paying(
      SymbolicAnalysis analysis, PartitionOptions options, int executors) {
    return PayingWorkers.choose(
        executors, "executors", k -> Optional.of(used(forecast(analysis, options, k))));
  }

  private TreePartition used(Forecast forecast) {
    return devices > 0 ? forecast.cut.partition() : forecast.partition();
  }
}
