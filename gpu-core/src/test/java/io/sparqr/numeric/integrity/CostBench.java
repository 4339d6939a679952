/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.numeric.*;
import io.sparqr.ordering.*;
import io.sparqr.symbolic.*;
import java.util.*;

public class CostBench {
  public static void main(String[] args) {
    for (String spec : args) {
      var p = DeviceCases.whole(spec);
      int threads = 2;
      double tol = 1e-8;
      try (var cpu = new CpuSubtreeFactorizer()) {
        for (int rep = 0; rep < 4; rep++) {
          var o = new FactorOptions(tol, threads, 0);
          long t0 = System.nanoTime();
          SubtreeFactor f = cpu.factor(p, o);
          long t1 = System.nanoTime();
          var columns = new TaskColumns(p.analysis(), p.fronts());
          var out = new FactorOut(columns, f);
          BitSet dead = out.dead(p.analysis());
          long t2 = System.nanoTime();
          var in = new RowsIn(columns, p.rows(), null, p.inputs(), threads);
          ColumnProbe probe = in.probe(dead);
          long t3 = System.nanoTime();
          var sums = in.sums(probe);
          long t4 = System.nanoTime();
          long steps = Steps.of(p, f);
          long t5 = System.nanoTime();
          var os = out.sums(probe, threads);
          long t6 = System.nanoTime();
          double d =
              new Balance(columns, probe, sums, steps).verify(os, f.residualSquares(), dead, 1e-8);
          long t7 = System.nanoTime();
          long nz = 0, sfn = 0;
          for (var x : f.fronts()) {
            nz += x.values().length;
            sfn += x.fn();
          }
          System.out.printf(
              Locale.ROOT,
              "%s nnzR %d fn %d m %d nnz %d: factor %.3f s; columns %.4f probe %.4f in %.4f steps %.4f out %.4f compare %.4f = %.2f %%; departure %.2e bound %.2e steps %d%n",
              spec,
              nz,
              sfn,
              p.rows().rows(),
              p.rows().value().length,
              (t1 - t0) * 1e-9,
              (t2 - t1) * 1e-9,
              (t3 - t2) * 1e-9,
              (t4 - t3) * 1e-9,
              (t5 - t4) * 1e-9,
              (t6 - t5) * 1e-9,
              (t7 - t6) * 1e-9,
              100.0 * (t7 - t1) / (t1 - t0),
              d,
              Balance.bound(steps),
              steps);
        }
      }
    }
  }
}
