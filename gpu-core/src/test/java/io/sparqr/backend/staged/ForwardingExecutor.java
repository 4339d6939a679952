/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * Another executor behind this one, for tests that look at some of its calls or spoil them. What is
 * optional is left out: no solves, no rows that stay.
 */
public abstract class ForwardingExecutor implements RoundExecutor {

  /** The executor that does the work. */
  protected abstract RoundExecutor inner();

  @Override
  public Result execute(StageProgram p, StageInput in, double tolerance, RowSink sink) {
    return inner().execute(p, in, tolerance, sink);
  }

  @Override
  public void timed(boolean on) {
    inner().timed(on);
  }

  @Override
  public List<DeviceTimeline> timelines() {
    return inner().timelines();
  }

  @Override
  public void deliver(StageProgram p, RowSink sink) {
    inner().deliver(p, sink);
  }

  @Override
  public Solved backSubstitute(StageProgram p) {
    return inner().backSubstitute(p);
  }

  @Override
  public void copyRows(List<Slice> slices) {
    inner().copyRows(slices);
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    return inner().fetch(tasks, count, outDoubles);
  }

  @Override
  public void read(Region region, long from, double[] target) {
    inner().read(region, from, target);
  }

  @Override
  public long inputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    return inner().inputSums(p, scale, counts, sums);
  }

  @Override
  public long outputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    return inner().outputSums(p, scale, counts, sums);
  }

  @Override
  public void task(SubtreeProblem problem) {
    inner().task(problem);
  }

  @Override
  public Optional<String> remark() {
    return inner().remark();
  }

  @Override
  public void safe(boolean on) {
    inner().safe(on);
  }

  @Override
  public String device() {
    return inner().device();
  }

  @Override
  public long availableBytes() {
    return inner().availableBytes();
  }

  @Override
  public SchedulerOptions schedulerOptions() {
    return inner().schedulerOptions();
  }

  @Override
  public void close() {
    inner().close();
  }
}
