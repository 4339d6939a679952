/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.partition.TreePartition;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * An assembly tree of any size in at most 2 x {@value #MOST} + 1 nodes: the fronts with the most
 * flops, and under each of them (and under the root of all) one node for all other fronts with it
 * as their nearest such ancestor. The flops of all fronts are included.
 */
final class FrontSample {

  /** Number of fronts with a separate node. */
  static final int MOST = 1000;

  private FrontSample() {}

  /** O(fronts) and sorting; 16 bytes per front during the call. */
  static List<SolveProfile.Front> tree(SymbolicAnalysis a, TreePartition cut) {
    int count = a.fronts();
    boolean[] kept = largest(a);
    var nodes = new ArrayList<SolveProfile.Front>();
    // Node of the nearest kept front at or above each front; -1: none.
    int[] node = new int[count];
    var below = new ArrayList<Group>();
    var top = new Group(-1);
    for (int f = count - 1; f >= 0; f--) {
      int parent = a.parent(f) < 0 ? -1 : node[a.parent(f)];
      if (!kept[f]) {
        node[f] = parent;
        (parent < 0 ? top : below.get(parent)).add(f, a, cut);
        continue;
      }
      node[f] = nodes.size();
      below.add(new Group(node[f]));
      nodes.add(
          new SolveProfile.Front(
              node[f], parent, f, 1, cut.taskOf(f), a.fm(f), a.fn(f), a.fp(f), a.frontFlops(f)));
    }
    below.add(top);
    for (Group g : below) {
      if (g.count > 0) {
        nodes.add(g.node(nodes.size()));
      }
    }
    return nodes;
  }

  /** The fronts with the most flops; among equals the higher ones. */
  private static boolean[] largest(SymbolicAnalysis a) {
    int count = a.fronts();
    boolean[] kept = new boolean[count];
    if (count <= MOST) {
      Arrays.fill(kept, true);
      return kept;
    }
    double[] flops = new double[count];
    for (int f = 0; f < count; f++) {
      flops[f] = a.frontFlops(f);
    }
    Arrays.sort(flops);
    double least = flops[count - MOST];
    int left = MOST;
    for (int f = 0; f < count; f++) {
      kept[f] = a.frontFlops(f) > least;
      left -= kept[f] ? 1 : 0;
    }
    for (int f = count - 1; f >= 0 && left > 0; f--) {
      if (a.frontFlops(f) == least) {
        kept[f] = true;
        left--;
      }
    }
    return kept;
  }

  /** Fronts that share a node. */
  private static final class Group {
    private final int parent;
    private int count;
    private int front;
    private int task;
    private long rows;
    private int columns;
    private int pivots;
    private double flops;
    private double most = -1;

    Group(int parent) {
      this.parent = parent;
    }

    void add(int f, SymbolicAnalysis a, TreePartition cut) {
      count++;
      front = f;
      rows = Math.max(rows, a.fm(f));
      columns = Math.max(columns, a.fn(f));
      pivots += a.fp(f);
      flops += a.frontFlops(f);
      if (a.frontFlops(f) > most) {
        most = a.frontFlops(f);
        task = cut.taskOf(f);
      }
    }

    SolveProfile.Front node(int id) {
      return new SolveProfile.Front(
          id, parent, count == 1 ? front : -1, count, task, rows, columns, pivots, flops);
    }
  }

  /** All fronts grouped by their number of columns, in powers of 2. O(fronts). */
  static List<SolveProfile.FrontSize> sizes(SymbolicAnalysis a) {
    int[] fronts = new int[Integer.SIZE];
    double[] flops = new double[Integer.SIZE];
    for (int f = 0; f < a.fronts(); f++) {
      int k = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(Math.max(1, a.fn(f)));
      fronts[k]++;
      flops[k] += a.frontFlops(f);
    }
    var list = new ArrayList<SolveProfile.FrontSize>();
    for (int k = 0; k < fronts.length; k++) {
      if (fronts[k] > 0) {
        list.add(new SolveProfile.FrontSize(1L << k, 2L << k, fronts[k], flops[k]));
      }
    }
    return list;
  }
}
