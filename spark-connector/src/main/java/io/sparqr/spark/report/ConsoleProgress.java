/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import java.io.PrintStream;
import java.util.Locale;

/**
 * Progress lines on a console, for work that takes more than a few seconds: nothing before {@code
 * quietSeconds}, then at most two lines a second; a terminal shows one line that is rewritten in
 * place.
 */
public final class ConsoleProgress implements ProgressListener {

  private final PrintStream out;
  private final double quietSeconds;
  private final boolean inPlace;
  private double last = Double.NEGATIVE_INFINITY;
  private int width;

  /**
   * A listener on a stream.
   *
   * @param out the stream
   * @param quietSeconds initial time without output
   * @param inPlace whether to rewrite one line (a terminal) or to print line after line (a log)
   */
  public ConsoleProgress(PrintStream out, double quietSeconds, boolean inPlace) {
    this.out = out;
    this.quietSeconds = quietSeconds;
    this.inPlace = inPlace;
  }

  /** A listener on standard error: quiet for 2 seconds, and in place if there is a terminal. */
  public static ConsoleProgress standard() {
    return new ConsoleProgress(System.err, 2.0, System.console() != null);
  }

  @Override
  public synchronized void update(Progress p) {
    boolean done = p.phase().equals("done");
    double gap = inPlace ? 0.5 : 2.0;
    if (p.elapsedSeconds() < quietSeconds || (!done && p.elapsedSeconds() - last < gap)) {
      return;
    }
    last = p.elapsedSeconds();
    String line =
        String.format(
            Locale.ROOT,
            "[%6.1f s] %s: %s%s",
            p.elapsedSeconds(),
            p.phase(),
            p.detail(),
            done ? "" : " (" + left(p) + ")");
    if (inPlace) {
      out.print("\r" + line + " ".repeat(Math.max(0, width - line.length())) + (done ? "\n" : ""));
      width = line.length();
    } else {
      out.println(line);
    }
    out.flush();
  }

  /** The remaining work, such as "37%, 1.2 TFLOP of 3.3 TFLOP, about 2:40 left". */
  static String left(Progress p) {
    // Rounded down, so that 100% means done.
    String text = String.format(Locale.ROOT, "%.0f%%", Math.floor(100 * p.fraction()));
    if (p.flops() > 0) {
      text += ", " + SolveReport.work(p.flopsDone()) + " of " + SolveReport.work(p.flops());
    }
    if (p.remainingSeconds() >= 0) {
      long s = Math.round(p.remainingSeconds());
      text +=
          s < 60
              ? ", about %d s left".formatted(s)
              : s < 3600
                  ? ", about %d:%02d left".formatted(s / 60, s % 60)
                  : ", about %d:%02d:%02d left".formatted(s / 3600, s / 60 % 60, s % 60);
    }
    return text;
  }
}
