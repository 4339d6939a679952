/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * Counts the tasks of a round: by kind, and in {@link FrontCounts} by front. Not thread-safe;
 * several may count different rounds.
 */
final class TaskCounter implements TaskSink {

  private final FrontCounts counts;
  private final long[] kinds = new long[TaskLayout.KINDS];
  private int front;
  private int local;
  private int chain;
  private int bulk;
  private boolean marked;

  /** The front assembled by the current tasks, and the number of these so far. */
  private int filled;

  private int filling;

  TaskCounter(FrontCounts counts) {
    this.counts = counts;
  }

  @Override
  public void begin(int front, int local) {
    this.front = front;
    this.local = local;
    chain = 0;
    bulk = 0;
    filling = 0;
  }

  /** Ends the group started by {@link #begin}. */
  void end() {
    if (chain > 0 || bulk > 0) {
      counts.set(front, local, chain, bulk);
    }
    if (filling > 0) {
      counts.fill(filled, filling);
    }
  }

  /** Tasks of each kind, size KINDS. */
  long[] kinds() {
    return kinds;
  }

  /**
   * In a local round a front assembles one front: itself before its first round, later its parent.
   */
  private void fills(int target) {
    filled = target;
    filling++;
  }

  @Override
  public void factorize(FrontSchedule s, int op, int front, int readBase, int writeBase) {
    kinds[s.kind(op)]++;
    chain++;
  }

  @Override
  public void apply(FrontSchedule s, int op, int front, int readBase, int from, int to, int parts) {
    int near = from == s.applyFrom(op) ? 1 : 0;
    kinds[TaskLayout.APPLY_NEAR] += near;
    kinds[TaskLayout.APPLY] += parts - near;
    chain += near;
    bulk += parts - near;
  }

  @Override
  public void marked(boolean on) {
    marked = on;
  }

  @Override
  public void copied(int chainCopies, int bulkCopies) {
    chain += chainCopies;
    bulk += bulkCopies;
  }

  @Override
  public void pull(Task.Pull pull, boolean waits) {
    kinds[TaskLayout.PULL]++;
  }

  @Override
  public void announce() {
    kinds[TaskLayout.ANNOUNCE]++;
  }

  @Override
  public void pack(
      int kind, int from, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo) {
    kinds[kind]++;
    fills(parent);
  }

  @Override
  public void scatter(int front, long from, long to) {
    kinds[TaskLayout.ASSEMBLE_S]++;
    fills(front);
  }

  @Override
  public void small(int flags, int front, int parent, int slot, int rows, long out, long outRhs) {
    kinds[TaskLayout.SMALL_FRONT]++;
    if ((flags & TaskLayout.SMALL_PACK_ASSEMBLE) != 0) {
      fills(parent);
    } else if (marked) {
      bulk++;
    }
  }

  @Override
  public void drop(
      int front, int parent, int slot, int vtFrom, int most, int rows, long out, long outRhs) {
    kinds[TaskLayout.DROP]++;
    if (parent >= 0) {
      fills(parent);
    } else if (marked) {
      bulk++;
    }
  }

  @Override
  public void out(
      int kind, int flags, int front, int slot, int rowFrom, int rowTo, long out, long outRhs) {
    kinds[kind]++;
  }
}
