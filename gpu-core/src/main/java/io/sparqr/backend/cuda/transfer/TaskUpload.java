/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The task lists of a stage, written by several threads and sent in the order of the rounds, while
 * the launches of earlier rounds run. The first pieces are small, so that the first launch need not
 * wait for long. For a single use.
 */
public final class TaskUpload implements AutoCloseable {

  /** A piece is at most this part of what comes before it, or of a full piece if that is more. */
  private static final int FIRST_PART = 16;

  /** Whole rounds [from, to). */
  private record Piece(int from, int to) {}

  private final StageSchedule schedule;
  private final DeviceBuffer target;
  private final Transfers.Queue queue;
  private final List<Piece> pieces = new ArrayList<>();

  /** By piece: whether it is on its way. Guarded by this object's monitor, as all below. */
  private final boolean[] sent;

  /** Pieces below this are all on their way. */
  private int complete;

  private boolean failed;

  @SuppressWarnings("NullAway.Init") // set by start
  private Workers.Running running;

  /**
   * The lists of a schedule.
   *
   * @param target the device's buffer of all tasks
   * @param pieceBytes bytes of a piece, about; the first are smaller
   */
  public TaskUpload(
      Transfers transfers, DeviceBuffer target, StageSchedule schedule, int pieceBytes) {
    this.schedule = schedule;
    this.target = target;
    int round = 0;
    while (round < schedule.rounds()) {
      int first = round;
      long most = Math.max(pieceBytes / FIRST_PART, bytes(0, first) / FIRST_PART);
      most = Math.min(most, pieceBytes);
      do {
        round++;
      } while (round < schedule.rounds() && bytes(first, round + 1) <= most);
      pieces.add(new Piece(first, round));
    }
    sent = new boolean[pieces.size()];
    queue = transfers.queue();
  }

  private long bytes(int from, int to) {
    return TaskLayout.TASK_BYTES * (schedule.roundStart(to) - schedule.roundStart(from));
  }

  /** Bytes of all lists. */
  public long bytes() {
    return bytes(0, schedule.rounds());
  }

  /** Starts to write and send. */
  public TaskUpload start(Workers workers) {
    running = workers.start(pieces.size(), this::send);
    return this;
  }

  private void send(int i) {
    Piece p = pieces.get(i);
    boolean done = false;
    try {
      int bytes = Math.toIntExact(bytes(p.from, p.to));
      if (bytes > 0) {
        var to = new Transfers.Slice(target, bytes(0, p.from), bytes);
        queue.send(to, b -> schedule.write(p.from, p.to, b));
      }
      done = true;
    } finally {
      ended(i, done);
    }
  }

  private synchronized void ended(int i, boolean done) {
    sent[i] = done;
    failed |= !done;
    while (complete < sent.length && sent[complete]) {
      complete++;
    }
    notifyAll();
  }

  /**
   * Makes later work of a stream wait for the lists of all rounds up to {@code last}. Waits itself
   * until they are on their way.
   *
   * @throws RuntimeException if a piece could not be written or sent
   */
  public void await(int last, CudaStream stream) {
    if (!onTheirWay(last)) {
      running.join();
    }
    queue.beforeLaterWorkOf(stream);
  }

  /** False if they will never be. */
  private synchronized boolean onTheirWay(int last) {
    boolean interrupted = false;
    while (!failed && complete < pieces.size() && pieces.get(complete).from <= last) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !failed;
  }

  /** Waits for the arrival of all. */
  @Override
  public void close() {
    try {
      running.join();
    } finally {
      queue.close();
    }
  }
}
