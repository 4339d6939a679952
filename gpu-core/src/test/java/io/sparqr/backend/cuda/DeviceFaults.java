/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.error.SparseQrException;
import io.sparqr.matrix.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * Faults put into a device: one bit of a buffer of a stage between two launches, or of a task's
 * counts, and what becomes of the factorization. {@code DeviceFaults COUNT SEED [SECONDS]}; a table
 * of what was put in, harmless, done again, refused and missed; exit code 1 if one was missed. Run
 * with -Dsparqr.cuda.waitMillis=50.
 *
 * <p>Missed: not done again, and an entry of R or Q'b is off by more than {@link #CHANGE} of its
 * column's norm, which is 1. R of these problems is well conditioned, so a bit of R is as good as
 * one of R'R.
 */
final class DeviceFaults {

  /** What a fault may change without a word. */
  private static final double CHANGE = 1e-10;

  private static final Map<Integer, String> BUFFERS =
      new TreeMap<>(
          Map.of(
              0, "task counts", 2, "fronts", 3, "V and T", 5, "S", 8, "rows out", 9, "residual"));

  private final Random random;
  private final List<Object> allocated = new ArrayList<>();
  private final List<Long> sizes = new ArrayList<>();
  private int target = -1;
  private int countdown;
  private int launches;
  private boolean planted;

  private DeviceFaults(long seed) {
    random = new Random(seed);
  }

  /** Runs. */
  public static void main(String[] a) throws Exception {
    long seconds = a.length > 2 ? Long.parseLong(a[2]) : Long.MAX_VALUE / 2_000_000_000;
    int missed = new DeviceFaults(Long.parseLong(a[1])).run(Integer.parseInt(a[0]), seconds);
    System.exit(missed == 0 ? 0 : 1);
  }

  private int run(int count, long seconds) {
    long end = System.nanoTime() + seconds * 1_000_000_000;
    var driver = new CudaDriver(FaultyCalls.of(TestDevice.driver().calls(), this::call));
    var sessions = new DeviceSessions(driver, 60_000);
    var tally = new TreeMap<String, int[]>();
    String[] names = {"ch5-7-b3:rand", "cells3d16", "onehot20000x300x40", "nug8:rand"};
    int done = 0;
    for (int k = 0; k < count && System.nanoTime() < end; ) {
      SubtreeProblem problem = problem(names[random.nextInt(names.length)]);
      var options = new FactorOptions(-1, 8, 0).ofUnitColumns(true);
      SubtreeFactor right = factor(sessions, problem, options, -1);
      int all = launches;
      for (int i = 0; i < 50 && k < count && System.nanoTime() < end; i++, k++, done++) {
        Integer[] which = BUFFERS.keySet().toArray(new Integer[0]);
        countdown = random.nextInt(Math.max(1, all));
        int buffer = which[random.nextInt(which.length)];
        int[] row = tally.computeIfAbsent(BUFFERS.get(buffer), b -> new int[5]);
        try {
          SubtreeFactor f = factor(sessions, problem, options, buffer);
          double change = change(f, right);
          boolean again = f.summary().redoneTasks() > 0;
          boolean good = change <= (again ? 1e-8 : CHANGE);
          row[!planted ? 4 : !good ? 3 : again ? 1 : 0]++;
          if (!good) {
            System.out.printf("MISSED %s: %.2e, again %b%n", BUFFERS.get(buffer), change, again);
          }
        } catch (SparseQrException e) {
          row[2]++;
          System.out.println("refused: " + BUFFERS.get(buffer) + ": " + e.getMessage());
        }
      }
    }
    System.out.printf("%d faults; harmless, done again, refused, missed, not put in%n", done);
    int missed = 0;
    for (var e : tally.entrySet()) {
      System.out.printf("%-12s %s%n", e.getKey(), Arrays.toString(e.getValue()));
      missed += e.getValue()[3];
    }
    return missed;
  }

  private SubtreeFactor factor(
      DeviceSessions sessions, SubtreeProblem problem, FactorOptions options, int buffer) {
    target = buffer;
    planted = false;
    launches = 0;
    try (var device =
        new CheckedFactorizer(
            new CudaSubtreeFactorizer(sessions, 0, null), new CpuBackendProvider().create(0))) {
      return device.factor(problem, options);
    } finally {
      target = -1;
      allocated.clear();
      sizes.clear();
    }
  }

  /** Counts launches of rounds and spoils one. */
  private Integer call(String name, Object[] arguments) {
    if (name.equals("memoryAllocate")) {
      allocated.add(arguments[0]);
      sizes.add((Long) arguments[1]);
    } else if (name.equals("launch")
        && ((ByteBuffer) arguments[5]).capacity() == CudaModule.STAGE_BYTES) {
      launches++;
      if (target >= 0 && !planted && countdown-- == 0) {
        spoil((ByteBuffer) arguments[5], (CUstream) arguments[4]);
      }
    }
    return null;
  }

  private void spoil(ByteBuffer stage, CUstream stream) {
    long address = stage.order(ByteOrder.nativeOrder()).getLong(8 * target);
    for (int i = 0; i < allocated.size(); i++) {
      if (address != 0 && address(allocated.get(i)) == address && sizes.get(i) >= 8) {
        boolean counts = target == 0;
        long unit = counts ? 80 : 8;
        long at = random.nextLong(sizes.get(i) / unit) * unit + (counts ? 64 : 0);
        CUdeviceptr place = ((CUdeviceptr) allocated.get(i)).withByteOffset(at);
        long[] word = new long[1];
        JCudaDriver.cuStreamSynchronize(stream);
        JCudaDriver.cuMemcpyDtoH(Pointer.to(word), place, 8);
        word[0] ^= 1L << random.nextInt(64);
        JCudaDriver.cuMemcpyHtoD(place, Pointer.to(word), 8);
        planted = true;
        return;
      }
    }
  }

  private static long address(Object buffer) {
    try {
      Method value = buffer.getClass().getDeclaredMethod("value");
      value.setAccessible(true);
      return (long) value.invoke(buffer);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private SubtreeProblem problem(String name) {
    CsrMatrix a = Gallery.generate(Gallery.PREFIX + name + ":seed=" + random.nextInt(1000));
    double[] b = new double[a.rows()];
    Arrays.setAll(b, i -> random.nextGaussian());
    var analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withSingletons(false));
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    RowSplit split = RowSplit.of(a, b, 1, analysis, norms.factors());
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    return new SubtreeProblem(analysis, fronts, split.rows(), List.of());
  }

  /**
   * The largest difference of an entry, right-hand sides relative to their norm; NaN is infinite.
   */
  private static double change(SubtreeFactor f, SubtreeFactor right) {
    double norm = 0;
    for (double x : right.residualSquares()) {
      norm += x;
    }
    double worst = 0;
    for (FrontFactor r : right.fronts()) {
      for (double x : r.rhs()) {
        norm += x * x;
      }
    }
    for (int k = 0; k < right.fronts().size(); k++) {
      FrontFactor a = f.fronts().get(k);
      FrontFactor b = right.fronts().get(k);
      worst = Math.max(worst, largest(a.values(), b.values()));
      worst = Math.max(worst, largest(a.rhs(), b.rhs()) / Math.sqrt(norm));
    }
    double tail = largest(f.residualSquares(), right.residualSquares()) / norm;
    return Math.max(worst, tail);
  }

  private static double largest(double[] a, double[] b) {
    double worst = a.length == b.length ? 0 : Double.POSITIVE_INFINITY;
    for (int i = 0; i < Math.min(a.length, b.length); i++) {
      double d = Math.abs(a[i] - b[i]);
      worst = d <= worst ? worst : Double.isNaN(d) ? Double.POSITIVE_INFINITY : d;
    }
    return worst;
  }

  static {
    Locale.setDefault(Locale.ROOT);
  }
}
