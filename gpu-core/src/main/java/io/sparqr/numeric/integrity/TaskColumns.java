/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * A numbering of the columns of some fronts: their pivots in order of position, then the columns
 * that occur only in their tails, ascending. Memory O(fronts + those tails), never O(n). Immutable.
 */
public final class TaskColumns {

  private final SymbolicAnalysis analysis;

  /** Maximal runs of positions that are pivots: first position, end, number of the first. */
  private final int[] runFirst;

  private final int[] runEnd;
  private final int[] runNumber;

  /** Numbers below this are pivots. */
  private final int pivots;

  /** Positions of the other columns, ascending. */
  private final int[] tails;

  /**
   * Numbers the columns of fronts. O(fronts + t log t), where t counts the tail columns of fronts
   * whose parent is not among them.
   *
   * @param fronts ascending
   */
  public TaskColumns(SymbolicAnalysis analysis, int[] fronts) {
    this.analysis = analysis;
    int[] first = new int[fronts.length];
    int[] end = new int[fronts.length];
    int[] number = new int[fronts.length];
    int runs = 0;
    int count = 0;
    for (int f : fronts) {
      if (analysis.fp(f) == 0) {
        continue;
      }
      int at = analysis.firstPivot(f);
      if (runs == 0 || end[runs - 1] != at) {
        first[runs] = at;
        number[runs] = count;
        runs++;
      }
      end[runs - 1] = at + analysis.fp(f);
      count += analysis.fp(f);
    }
    runFirst = Arrays.copyOf(first, runs);
    runEnd = Arrays.copyOf(end, runs);
    runNumber = Arrays.copyOf(number, runs);
    pivots = count;
    tails = tails(fronts);
  }

  private int[] tails(int[] fronts) {
    int[] all = new int[64];
    int count = 0;
    for (int i = 0; i < fronts.length; i++) {
      if (has(fronts, i, analysis.parent(fronts[i]))) {
        continue;
      }
      int cn = analysis.cn(fronts[i]);
      int fp = analysis.fp(fronts[i]);
      if (count + cn > all.length) {
        all = Arrays.copyOf(all, Math.max(2 * all.length, count + cn));
      }
      for (int k = 0; k < cn; k++) {
        int p = analysis.column(fronts[i], fp + k);
        if (pivotNumber(p) < 0) {
          all[count++] = p;
        }
      }
    }
    Arrays.sort(all, 0, count);
    int distinct = 0;
    for (int k = 0; k < count; k++) {
      if (k == 0 || all[k] != all[k - 1]) {
        all[distinct++] = all[k];
      }
    }
    return Arrays.copyOf(all, distinct);
  }

  /** Whether front {@code f} is in the list; it is greater than entry i. */
  private static boolean has(int[] fronts, int i, int f) {
    if (f < 0) {
      return false;
    }
    int guess = i + f - fronts[i];
    return guess < fronts.length && fronts[guess] == f
        || Arrays.binarySearch(fronts, i, fronts.length, f) >= 0;
  }

  /** Number of columns. */
  public int count() {
    return pivots + tails.length;
  }

  /** The position of column {@code number} in the analysis. O(log runs). */
  public int position(int number) {
    if (number >= pivots) {
      return tails[number - pivots];
    }
    int r = Arrays.binarySearch(runNumber, number);
    r = r >= 0 ? r : -r - 2;
    return runFirst[r] + number - runNumber[r];
  }

  /**
   * The number of the column at a position. O(1) for most pivots, else O(log).
   *
   * @throws IllegalArgumentException if it is in no front
   */
  public int number(int position) {
    int k = pivotNumber(position);
    if (k >= 0) {
      return k;
    }
    k = Arrays.binarySearch(tails, position);
    if (k < 0) {
      throw new IllegalArgumentException("position " + position + " is not a column of the fronts");
    }
    return pivots + k;
  }

  /** The number of a pivot column, or -1. */
  private int pivotNumber(int position) {
    int r = 0;
    if (runFirst.length != 1) {
      r = Arrays.binarySearch(runFirst, position);
      r = r >= 0 ? r : -r - 2;
    }
    return r >= 0 && position >= runFirst[r] && position < runEnd[r]
        ? runNumber[r] + position - runFirst[r]
        : -1;
  }

  /**
   * Writes the numbers of front f's columns, its pivots first, to {@code target} from {@code at}
   * on. O(fn), and O(log) for each jump.
   */
  public void numbers(int f, int[] target, int at) {
    int fp = analysis.fp(f);
    int first = fp == 0 ? 0 : number(analysis.firstPivot(f));
    for (int k = 0; k < fp; k++) {
      target[at + k] = first + k;
    }
    tailNumbers(f, target, at + fp);
  }

  /** As above, for front f's tail columns alone; f itself need not be one of the fronts. */
  public void tailNumbers(int f, int[] target, int at) {
    int[] tail = analysis.data().tailColumns();
    int from = analysis.data().tailStart()[f];
    int cn = analysis.cn(f);
    numbers(tail, from, cn, target, at);
  }

  /**
   * Writes the numbers of the columns at positions[from .. from + count), preferably ascending, to
   * {@code target} from {@code at} on. O(1) for a pivot of the first run, the only one in most
   * tasks, and for a column next to the previous one; else O(log).
   */
  void numbers(int[] positions, int from, int count, int[] target, int at) {
    int first = runFirst.length == 0 ? 0 : runFirst[0];
    int length = runFirst.length == 0 ? 0 : runEnd[0] - first;
    int k = 0;
    for (; k < count; k++) {
      int number = positions[from + k] - first;
      if (number < 0 || number >= length) {
        break;
      }
      target[at + k] = number;
    }
    int last = -1;
    for (; k < count; k++) {
      int p = positions[from + k];
      boolean next = last >= pivots && last + 1 - pivots < tails.length;
      last = next && tails[last + 1 - pivots] == p ? last + 1 : number(p);
      target[at + k] = last;
    }
  }

  /** Writes the positions of columns [from, to), in that order, to {@code target}. O(columns). */
  void positions(int from, int to, int[] target) {
    int run = Arrays.binarySearch(runNumber, from);
    run = run >= 0 ? run : -run - 2;
    int j = from;
    for (; j < Math.min(to, pivots); run++) {
      int end = Math.min(Math.min(to, pivots), runNumber[run] + runEnd[run] - runFirst[run]);
      int shift = runFirst[run] - runNumber[run];
      for (; j < end; j++) {
        target[j - from] = shift + j;
      }
    }
    if (j < to) {
      System.arraycopy(tails, j - pivots, target, j - from, to - j);
    }
  }
}
