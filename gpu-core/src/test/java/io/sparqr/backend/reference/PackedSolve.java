/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor.Solved;
import io.sparqr.backend.staged.solve.ItemList;
import io.sparqr.backend.staged.solve.SolveItem;
import io.sparqr.backend.staged.solve.SolveLists;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.Probe;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Solves with the packed rows of a stage's output buffer, item by item: specifies {@code
 * forward_substitution.cuh} and {@code back_substitution.cuh}.
 */
final class PackedSolve {

  private final SolveLists lists;
  private final double[] out;
  private final int rhs;

  /** Chooses the next of the ready items, which are in list order; null: in list order. */
  private final IntUnaryOperator choice;

  private double worst;

  PackedSolve(SolveLists lists, double[] out, int rhs, IntUnaryOperator choice) {
    this.lists = lists;
    this.out = out;
    this.rhs = rhs;
    this.choice = choice;
  }

  /** R x = c with the right-hand sides stored with R and the probe, for a whole tree. */
  static Solved stored(SolveLists lists, double[] out) {
    int rhs = lists.storedRhs() + Probe.COUNT;
    var solve = new PackedSolve(lists, out, rhs, null);
    double[] x = new double[lists.columns().count() * rhs];
    solve.back(null, x);
    return new Solved(x, solve.worst);
  }

  /** The same with the rows' sum of bits, and x at the columns outside the task. */
  KeptRows.Solved stored(double[] outside) {
    int own = lists.columns().pivots() * rhs;
    double[] x = new double[lists.columns().count() * rhs];
    System.arraycopy(outside, 0, x, own, outside.length);
    back(null, x);
    return new KeptRows.Solved(Arrays.copyOf(x, own), worst, bits());
  }

  /** R'R x = c. */
  KeptRows.Solved normal(double[] c) {
    double[] v = new double[lists.columns().places() * rhs];
    double[] y = new double[lists.columns().count() * rhs];
    long bits = forward(c, y, v);
    double[] x = new double[lists.columns().count() * rhs];
    back(y, x);
    return new KeptRows.Solved(x, worst, bits);
  }

  /** R'y = c, and the updates at the columns outside the task. */
  KeptRows.Solved forward(double[] c) {
    double[] v = new double[lists.columns().places() * rhs];
    double[] y = new double[lists.columns().count() * rhs];
    long bits = forward(c, y, v);
    int own = lists.columns().pivots() * rhs;
    System.arraycopy(v, lists.columns().number().length * rhs, y, own, y.length - own);
    return new KeptRows.Solved(y, worst, bits);
  }

  /** R x = c with x given at the columns outside the task. */
  KeptRows.Solved back(double[] given) {
    int own = lists.columns().pivots() * rhs;
    double[] x = new double[lists.columns().count() * rhs];
    System.arraycopy(given, own, x, own, x.length - own);
    back(given, x);
    return new KeptRows.Solved(Arrays.copyOf(x, own), worst, bits());
  }

  /** The sum of the rows' bits. */
  long bits() {
    double[] none = new double[lists.columns().count()];
    return new PackedSolve(lists, out, 1, null)
        .bits(none, none, new double[lists.columns().places()]);
  }

  /** Solves; returns the sum of the rows' bits. */
  private long forward(double[] c, double[] y, double[] v) {
    run(lists.forward(), t -> forward(t, c, y, v));
    return bits(c, y, v);
  }

  /** The sum of the rows' bits; raises the backward error to that of R'y = c. */
  private long bits(double[] c, double[] y, double[] v) {
    long bits = 0;
    for (int k = 0; k < lists.forward().size(); k++) {
      bits += forwardError(SolveItem.read(lists.forward().items(), k), c, y, v);
    }
    return bits;
  }

  /** Solves for x at the pivots. */
  private void back(double[] c, double[] x) {
    run(lists.back(), t -> back(t, c, x));
    for (int k = 0; k < lists.back().size(); k++) {
      backError(SolveItem.read(lists.back().items(), k), c, x);
    }
  }

  private interface Work {
    void item(SolveItem t);
  }

  /** Runs a list's items, each once the count that it waits for is reached. */
  private void run(ItemList list, Work work) {
    int[] count = new int[list.counts()];
    var waiting = new ArrayList<SolveItem>();
    for (int k = 0; k < list.size(); k++) {
      waiting.add(SolveItem.read(list.items(), k));
    }
    if (choice == null) {
      for (SolveItem t : waiting) {
        if (!ready(t, count)) {
          throw new IntegrityFailure("an item of a solve waits for one after it");
        }
        done(t, count, work);
      }
      return;
    }
    while (!waiting.isEmpty()) {
      List<SolveItem> ready = waiting.stream().filter(t -> ready(t, count)).toList();
      SolveItem next = ready.get(choice.applyAsInt(ready.size()));
      done(next, count, work);
      waiting.removeIf(t -> t == next);
    }
  }

  private static boolean ready(SolveItem t, int[] count) {
    return reached(t.first(), count) && reached(t.second(), count);
  }

  private static boolean reached(SolveItem.Wait wait, int[] count) {
    return wait.count() < 0 || count[wait.count()] >= wait.reached();
  }

  private static void done(SolveItem t, int[] count, Work work) {
    work.item(t);
    if (t.signal() >= 0) {
      count[t.signal()]++;
    }
  }

  /** Entry (i, j) of a front's rows of R. */
  private double r(SolveItem t, int i, int j) {
    return out[(int) (t.out() + (long) i * t.fn() - (long) i * (i - 1) / 2 + j - i)];
  }

  /** Place of right-hand side q at column j of a front, in a vector by column. */
  private int at(SolveItem t, int j, int q) {
    return lists.columns().number()[t.start() + j] * rhs + q;
  }

  /** c, and the children's updates, at column j; the sum of the sizes if {@code sizes}. */
  private double entry(SolveItem t, int j, int q, double[] c, double[] v, boolean sizes) {
    double sum = j < t.fp() ? c[at(t, j, q)] : 0;
    sum = sizes ? Math.abs(sum) : sum;
    for (int k = lists.gather().start()[t.start() + j];
        k < lists.gather().start()[t.start() + j + 1];
        k++) {
      double u = v[lists.gather().from()[k] * rhs + q];
      sum += sizes ? Math.abs(u) : u;
    }
    return sum;
  }

  private void forward(SolveItem t, double[] c, double[] y, double[] v) {
    boolean assembles = t.kind() == SolveItem.WHOLE || t.kind() == SolveItem.ASSEMBLE;
    for (int q = 0; q < rhs; q++) {
      for (int j = t.columnFrom(); assembles && j < t.columnTo(); j++) {
        v[(t.start() + j) * rhs + q] = entry(t, j, q, c, v, false);
      }
      if (t.kind() == SolveItem.ASSEMBLE) {
        continue;
      }
      int first = t.kind() == SolveItem.PRODUCT ? t.columnFrom() : t.rowFrom();
      for (int j = first; j < t.columnTo(); j++) {
        int place = (t.start() + j) * rhs + q;
        for (int i = t.rowFrom(); i < Math.min(j, t.rowTo()); i++) {
          v[place] -= r(t, i, j) * y[at(t, i, q)];
        }
        if (j < t.rowTo()) {
          y[at(t, j, q)] = v[place] / r(t, j, j);
        }
      }
    }
  }

  private long forwardError(SolveItem t, double[] c, double[] y, double[] v) {
    if (t.kind() != SolveItem.WHOLE && t.kind() != SolveItem.ASSEMBLE) {
      return 0;
    }
    long bits = 0;
    for (int j = t.columnFrom(); j < t.columnTo(); j++) {
      int end = Math.min(t.fp(), j + 1);
      for (int i = 0; i < end; i++) {
        bits += BitChecksum.mixed(r(t, i, j));
      }
      for (int q = 0; q < rhs; q++) {
        double u = j < t.fp() ? 0 : v[(t.start() + j) * rhs + q];
        double rest = entry(t, j, q, c, v, false) - u;
        double scale = entry(t, j, q, c, v, true) + Math.abs(u);
        for (int i = 0; i < end; i++) {
          double p = r(t, i, j) * y[at(t, i, q)];
          rest -= p;
          scale += Math.abs(p);
        }
        raise(Math.abs(rest), scale);
      }
    }
    if (t.columnFrom() == 0) {
      int from = (int) t.outRhs();
      bits += BitChecksum.sum(out, from, from + t.fp() * lists.storedRhs());
    }
    return bits;
  }

  private void raise(double rest, double scale) {
    double error = rest == 0 ? 0 : rest / scale;
    worst = error >= 0 && error < 1e308 ? Math.max(worst, error) : 1e308;
  }

  private double right(SolveItem t, int i, int q, double[] c) {
    if (c != null) {
      return c[at(t, i, q)];
    }
    return q < lists.storedRhs()
        ? out[(int) t.outRhs() + i * lists.storedRhs() + q]
        : Probe.value(lists.columns().number()[t.start() + i]);
  }

  private void back(SolveItem t, double[] c, double[] x) {
    for (int q = 0; q < rhs; q++) {
      for (int i = t.rowTo() - 1; i >= t.rowFrom(); i--) {
        boolean begun = t.kind() == SolveItem.TRIANGLE || t.kind() == SolveItem.PRODUCT;
        boolean solves = t.kind() == SolveItem.TRIANGLE || t.kind() == SolveItem.WHOLE;
        double sum = begun ? x[at(t, i, q)] : right(t, i, q, c);
        for (int j = solves ? i + 1 : t.columnFrom(); j < t.columnTo(); j++) {
          sum -= r(t, i, j) * x[at(t, j, q)];
        }
        x[at(t, i, q)] = solves ? sum / r(t, i, i) : sum;
      }
    }
  }

  private void backError(SolveItem t, double[] c, double[] x) {
    boolean all = t.kind() == SolveItem.WHOLE || t.kind() == SolveItem.ASSEMBLE;
    for (int i = t.rowFrom(); all && i < t.rowTo(); i++) {
      for (int q = 0; q < rhs; q++) {
        double rest = right(t, i, q, c);
        double scale = Math.abs(rest);
        for (int j = i; j < t.fn(); j++) {
          double p = r(t, i, j) * x[at(t, j, q)];
          rest -= p;
          scale += Math.abs(p);
        }
        raise(Math.abs(rest), scale);
      }
    }
  }
}
