/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the rounds of a stage need, written by several threads and sent in the order of the rounds,
 * while the launches of earlier rounds run. For a single use.
 */
public final class OrderedUpload implements AutoCloseable {

  /**
   * A piece of task lists is at most this part of what comes before it, or of a full piece if that
   * is more, so that the first launch need not wait for long.
   */
  private static final int FIRST_PART = 16;

  /**
   * One thread's work: writes some bytes and sends them.
   *
   * @param need the round that needs them
   */
  record Piece(int need, long bytes, Consumer<Transfers.Queue> send) {}

  private final Transfers.Queue queue;

  /** In the order of their rounds, once started. */
  private final List<Piece> pieces = new ArrayList<>();

  /** By piece: whether it is on its way. Guarded by this object's monitor, as all below. */
  private boolean[] sent = {};

  /** Pieces below this are all on their way. */
  private int complete;

  private boolean failed;

  @SuppressWarnings("NullAway.Init") // set by start
  private Workers.Running running;

  /** Without anything to send yet. */
  public OrderedUpload(Transfers transfers) {
    queue = transfers.queue();
  }

  /**
   * Adds the values or the structure of a stage. Of what a round needs, that which was added first
   * goes first.
   */
  public OrderedUpload stage(StageUpload upload) {
    pieces.addAll(upload.pieces());
    return this;
  }

  /**
   * Adds the task lists of a schedule.
   *
   * @param target the device's buffer of all tasks
   * @param pieceBytes bytes of a piece, about; the first are smaller
   */
  public OrderedUpload tasks(DeviceBuffer target, StageSchedule schedule, int pieceBytes) {
    int round = 0;
    while (round < schedule.rounds()) {
      int first = round;
      long most = Math.max(pieceBytes / FIRST_PART, bytes(schedule, 0, first) / FIRST_PART);
      most = Math.min(most, pieceBytes);
      do {
        round++;
      } while (round < schedule.rounds() && bytes(schedule, first, round + 1) <= most);
      int end = round;
      int bytes = Math.toIntExact(bytes(schedule, first, end));
      if (bytes > 0) {
        var to = new Transfers.Slice(target, bytes(schedule, 0, first), bytes);
        pieces.add(new Piece(first, bytes, q -> q.send(to, b -> schedule.write(first, end, b))));
      }
    }
    return this;
  }

  private static long bytes(StageSchedule schedule, int from, int to) {
    return TaskLayout.TASK_BYTES * (schedule.roundStart(to) - schedule.roundStart(from));
  }

  /** Bytes of all pieces. */
  public long bytes() {
    return pieces.stream().mapToLong(Piece::bytes).sum();
  }

  /** Starts to write and send. */
  public OrderedUpload start(Workers workers) {
    pieces.sort(Comparator.comparingInt(Piece::need));
    synchronized (this) {
      sent = new boolean[pieces.size()];
    }
    running = workers.start(pieces.size(), this::send);
    return this;
  }

  private void send(int i) {
    boolean done = false;
    try {
      pieces.get(i).send.accept(queue);
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
   * Makes later work of a stream wait for what all rounds up to {@code last} need. Waits itself
   * until it is on its way.
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
    while (!failed && complete < pieces.size() && pieces.get(complete).need <= last) {
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
