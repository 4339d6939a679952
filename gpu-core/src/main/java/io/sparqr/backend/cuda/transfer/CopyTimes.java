/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.numeric.DeviceTimeline.Copies;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** When copies were under way, by events around each: for a timeline. Thread-safe. */
public final class CopyTimes implements AutoCloseable {

  private record Copy(CudaEvent begin, CudaEvent end, long bytes) {}

  /**
   * A time span.
   *
   * @param from milliseconds
   * @param to milliseconds
   */
  record Span(double from, double to) {}

  private final CudaDriver driver;
  private final CudaEvent origin;
  private final List<Copy> copies = new ArrayList<>();

  /** Time begins on this stream. */
  public CopyTimes(CudaDriver driver, CudaStream stream) {
    this.driver = driver;
    origin = new CudaEvent(driver, true);
    origin.record(stream);
  }

  /** Enqueues a copy on a stream. */
  void around(CudaStream stream, long bytes, Runnable copy) {
    var its = new Copy(new CudaEvent(driver, true), new CudaEvent(driver, true), bytes);
    synchronized (copies) {
      copies.add(its);
    }
    its.begin.record(stream);
    copy.run();
    its.end.record(stream);
  }

  /** All copies so far, which have ended, beside what ran between two events. */
  public Copies beside(CudaEvent begin, CudaEvent end) {
    List<Span> spans = new ArrayList<>();
    long bytes = 0;
    synchronized (copies) {
      for (Copy c : copies) {
        spans.add(span(c.begin, c.end));
        bytes += c.bytes;
      }
    }
    return of(spans, span(begin, end), bytes);
  }

  private Span span(CudaEvent begin, CudaEvent end) {
    return new Span(begin.since(origin), end.since(origin));
  }

  /** The times of copies beside those of tasks. */
  static Copies of(List<Span> copies, Span tasks, long bytes) {
    double seconds = 0;
    double hidden = 0;
    double until = 0;
    for (Span c : copies.stream().sorted(Comparator.comparingDouble(Span::from)).toList()) {
      double from = Math.max(c.from, until);
      double to = Math.max(c.to, until);
      seconds += 1e-3 * (to - from);
      hidden += 1e-3 * Math.max(0, Math.min(to, tasks.to) - Math.max(from, tasks.from));
      until = to;
    }
    return new Copies(seconds, hidden, bytes);
  }

  @Override
  public void close() {
    synchronized (copies) {
      for (Copy c : copies) {
        c.begin.close();
        c.end.close();
      }
      copies.clear();
    }
    origin.close();
  }
}
