/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorList;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Multifrontal QR front by front, column by column, with Heath's rank detection (Heath, SIAM J.
 * Sci. Stat. Comput. 1982): a pivot column whose remaining norm is at most the tolerance is dead,
 * its remainder dropped, and the next column takes the row. No tiles, no staircase, no threads.
 */
public final class HeathFactorizer implements SubtreeFactorizer {

  @Override
  public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
    return new Run(problem, options).run();
  }

  @Override
  public String description() {
    return "reference (Heath)";
  }

  @Override
  public void close() {}

  private static final class Run {
    private final SubtreeProblem problem;
    private final SymbolicAnalysis analysis;
    private final double tolerance;
    private final int rhs;
    private final Map<Integer, ContributionBlock> block = new HashMap<>();
    private final Map<Integer, ArrayList<Integer>> rowsOf = new HashMap<>();
    private final double[] residual;
    private double dropped;
    private double flops;
    private final boolean keepQ;
    private final ArrayList<FrontReflectors> reflectors = new ArrayList<>();
    private ReflectorList steps;

    Run(SubtreeProblem problem, FactorOptions options) {
      this.problem = problem;
      analysis = problem.analysis();
      tolerance = options.rankTolerance();
      keepQ = options.keepQ();
      rhs = problem.rows().rhsCount();
      residual = new double[rhs];
      problem.inputs().forEach(b -> block.put(b.front(), b));
      for (int i = 0; i < problem.rows().rows(); i++) {
        int f = problem.rows().front()[i];
        if (Arrays.binarySearch(problem.fronts(), f) < 0) {
          throw new IllegalArgumentException("row " + i + " is of front " + f + ", not the task's");
        }
        rowsOf.computeIfAbsent(f, k -> new ArrayList<>()).add(i);
      }
    }

    SubtreeFactor run() {
      long began = System.nanoTime();
      var fronts = new ArrayList<FrontFactor>();
      long rank = 0;
      for (int f : problem.fronts()) {
        FrontReflectors places = keepQ ? places(f) : null;
        FrontFactor r = factorFront(f, assemble(f), places);
        fronts.add(r);
        rank += r.rank();
      }
      var outputs = new ArrayList<ContributionBlock>();
      for (int f : problem.fronts()) {
        if (block.containsKey(f) && block.get(f).cm() > 0) {
          outputs.add(block.get(f));
        }
      }
      double seconds = (System.nanoTime() - began) * 1e-9;
      var summary =
          FactorSummary.cpu(
              "reference", new FactorSummary.Work(fronts.size(), rank, flops, seconds, dropped), 0);
      return new SubtreeFactor(fronts, outputs, residual, summary, reflectors);
    }

    /**
     * The places of the rows in {@link #assemble}: the front's own in their order, then the
     * children's.
     */
    private FrontReflectors places(int f) {
      int[] own = new int[rowsOf.getOrDefault(f, new ArrayList<>()).size()];
      Arrays.setAll(own, i -> i);
      int[] child = new int[analysis.childCount(f)];
      int[] start = new int[child.length + 1];
      int count = 0;
      for (int k = 0; k < child.length; k++) {
        ContributionBlock c = block.get(analysis.child(f, k));
        if (c != null && c.cm() > 0) {
          child[count++] = c.front();
          start[count] = start[count - 1] + c.cm();
        }
      }
      int[] row = new int[start[count]];
      Arrays.setAll(row, i -> own.length + i);
      return new FrontReflectors(
          f,
          own.length + row.length,
          own,
          new FrontReflectors.ChildRows(
              Arrays.copyOf(child, count), Arrays.copyOf(start, count + 1), row),
          new int[0],
          new boolean[0],
          new int[0],
          List.of());
    }

    private FrontReflectors kept(FrontReflectors places, double[][] a, int[] live, int cm) {
      boolean[] negative = new boolean[live.length];
      for (int i = 0; i < live.length; i++) {
        negative[i] = a[i][live[i]] < 0;
      }
      int[] result = new int[live.length + cm];
      Arrays.setAll(result, i -> i);
      var q = List.of(steps.block(ReflectorBlock.run(0, a.length)));
      return new FrontReflectors(
          places.front(),
          places.rows(),
          places.own(),
          places.children(),
          live,
          negative,
          result,
          q);
    }

    /** The front's rows, fn + rhs columns, in any order. */
    private double[][] assemble(int f) {
      var rows = new ArrayList<double[]>();
      int fn = analysis.fn(f);
      var local = new HashMap<Integer, Integer>();
      for (int k = 0; k < fn; k++) {
        local.put(analysis.column(f, k), k);
      }
      RowBlock b = problem.rows();
      for (int i : rowsOf.getOrDefault(f, new ArrayList<>())) {
        double[] row = new double[fn + rhs];
        for (int e = b.rowStart()[i]; e < b.rowStart()[i + 1]; e++) {
          row[local.get(b.position()[e])] = b.value()[e];
        }
        System.arraycopy(b.rhs(), i * rhs, row, fn, rhs);
        rows.add(row);
      }
      for (int k = 0; k < analysis.childCount(f); k++) {
        int c = analysis.child(f, k);
        ContributionBlock child = block.remove(c);
        for (int i = 0; child != null && i < child.cm(); i++) {
          double[] row = new double[fn + rhs];
          for (int j = i; j < child.cn(); j++) {
            int column = local.get(analysis.column(c, analysis.fp(c) + j));
            row[column] = child.values()[(int) child.rowOffset(i) + j - i];
          }
          System.arraycopy(child.rhs(), i * rhs, row, fn, rhs);
          rows.add(row);
        }
      }
      return rows.toArray(new double[0][]);
    }

    private FrontFactor factorFront(int f, double[][] a, FrontReflectors places) {
      steps = new ReflectorList();
      int fp = analysis.fp(f);
      int fn = analysis.fn(f);
      int[] live = new int[fp];
      int r = 0;
      for (int k = 0; k < fp; k++) {
        double norm = Householder.norm(a, r, k);
        if (r == a.length || tolerance >= 0 && !(norm > tolerance)) {
          dropped = Math.hypot(dropped, norm);
          for (int i = r; i < a.length; i++) {
            a[i][k] = 0;
          }
        } else {
          step(a, r, k);
          live[r++] = k;
        }
      }
      int cm = Math.min(a.length - r, fn - fp);
      for (int i = 0; i < cm; i++) {
        step(a, r + i, fp + i);
      }
      for (int i = r + cm; i < a.length; i++) {
        for (int j = 0; j < rhs; j++) {
          residual[j] += a[i][fn + j] * a[i][fn + j];
        }
      }
      block.put(f, contribution(f, a, r, cm));
      if (keepQ) {
        reflectors.add(kept(places, a, Arrays.copyOf(live, r), cm));
      }
      return rowsOfR(f, a, Arrays.copyOf(live, r));
    }

    private void step(double[][] a, int row, int k) {
      double tau = Householder.reflect(a, row, k);
      if (keepQ && tau != 0) {
        steps.add(row, a.length - row, tau);
        for (int i = row + 1; i < a.length; i++) {
          steps.value(a[i][k]);
        }
      }
      for (int i = row + 1; i < a.length; i++) {
        a[i][k] = 0;
      }
      flops += 4.0 * (a.length - row) * (a[row].length - k);
    }

    private ContributionBlock contribution(int f, double[][] a, int r, int cm) {
      int fp = analysis.fp(f);
      int cn = analysis.cn(f);
      double[] values = new double[(int) ContributionBlock.packedLength(cm, cn)];
      double[] right = new double[cm * rhs];
      int to = 0;
      for (int i = 0; i < cm; i++) {
        System.arraycopy(a[r + i], fp + i, values, to, cn - i);
        to += cn - i;
        System.arraycopy(a[r + i], fp + cn, right, i * rhs, rhs);
      }
      return new ContributionBlock(f, cm, cn, values, right, rhs);
    }

    private FrontFactor rowsOfR(int f, double[][] a, int[] live) {
      int fn = analysis.fn(f);
      int length = 0;
      for (int k : live) {
        length += fn - k;
      }
      double[] values = new double[length];
      double[] right = new double[live.length * rhs];
      int to = 0;
      for (int i = 0; i < live.length; i++) {
        double sign = a[i][live[i]] < 0 ? -1 : 1;
        for (int j = live[i]; j < fn; j++) {
          values[to++] = sign * a[i][j];
        }
        for (int j = 0; j < rhs; j++) {
          right[i * rhs + j] = sign * a[i][fn + j];
        }
      }
      return new FrontFactor(f, fn, live, values, right, rhs);
    }
  }
}
