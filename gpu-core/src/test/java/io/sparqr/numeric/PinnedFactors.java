/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import dev.ludovic.netlib.blas.JavaBLAS;
import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.cuda.CudaSubtreeFactorizer;
import io.sparqr.backend.cuda.TestDevice;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * Seeded problems, whole and cut into tasks, by the CPU backend and the plain executor: checksums
 * of all results of a task. It is a program, because it needs a JVM in which no arithmetic depends
 * on the machine.
 *
 * <p>With the argument {@code cuda}: by the device instead, whose bits depend on the chip. To be
 * compared with the lines of another commit on the same device.
 */
final class PinnedFactors {

  private static final long SEED = 20261123;

  private final Consumer<String> out;

  private PinnedFactors(Consumer<String> out) {
    this.out = out;
  }

  /** Prints a marked line for each. */
  public static void main(String[] arguments) {
    var pins = new PinnedFactors(line -> System.out.println(PinnedFactorsTest.MARK + line));
    if (arguments.length > 0 && arguments[0].equals("cuda")) {
      pins.device();
      return;
    }
    // VectorBLAS adds up in the machine's vector width
    pins.out.accept("blas " + JavaBLAS.getInstance().getClass().getSimpleName());
    for (ContractCase c : cases()) {
      pins.cpu(c);
      pins.reference(c);
    }
    var random = new Random(SEED);
    CsrMatrix edges = TestMatrices.incidence(130_000, 90, random);
    // So tall that the CPU backend reads its rows in chunks.
    pins.chunks(ContractCase.natural("chunks", edges, TestMatrices.vector(130_000, random), 1));
  }

  private static List<ContractCase> cases() {
    var cases = new ArrayList<ContractCase>();
    for (int k = 0; k < 8; k++) {
      var random = new Random(SEED + k);
      int n = 20 + random.nextInt(150);
      int m = n / 2 + random.nextInt(3 * n);
      CsrMatrix a = TestMatrices.sparse(m, n, 1 + random.nextInt(4), random);
      double[] b = TestMatrices.vector(m * (k % 4), random);
      cases.add(new ContractCase("sparse " + k, a, b, k % 4, dissected(a)));
    }
    var random = new Random(SEED);
    cases.add(natural("staircase", TestMatrices.staircase(300, 100, random), random));
    cases.add(natural("dense", TestMatrices.dense(150, 97, random), random));
    cases.add(natural("wide", TestMatrices.sparse(70, 200, 4, random), random));
    cases.add(natural("rank 33", TestMatrices.ofRank(130, 80, 33, random), random));
    cases.add(natural("empty", withHoles(random), random));
    CsrMatrix graph = TestMatrices.incidence(300, 120, random);
    double[] b = TestMatrices.vector(300, random);
    cases.add(new ContractCase("incidence", graph, b, 1, dissected(graph)));
    CsrMatrix grid = Gallery.generate("gen:cells2d30");
    double[] c = TestMatrices.vector(2 * grid.rows(), random);
    cases.add(new ContractCase("cells2d30", grid, c, 2, dissected(grid)));
    return cases;
  }

  private static ContractCase natural(String name, CsrMatrix a, Random random) {
    return ContractCase.natural(name, a, TestMatrices.vector(a.rows(), random), 1);
  }

  /** Some rows and columns have no entry; such a row has only a right-hand side. */
  private static CsrMatrix withHoles(Random random) {
    double[][] a = new double[90][50];
    for (int i = 0; i < 90; i++) {
      for (int j = 0; j < 50; j++) {
        boolean there = i % 7 != 3 && j % 9 != 4 && random.nextInt(4) == 0;
        a[i][j] = there ? random.nextGaussian() : 0;
      }
    }
    return TestMatrices.ofDense(a, 50, false);
  }

  private static SymbolicOptions dissected(CsrMatrix a) {
    return SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern()));
  }

  private void cpu(ContractCase c) {
    try (var cpu = new CpuSubtreeFactorizer(BlasLoader.javaKernels("pinned"))) {
      ways(c, "cpu", cpu, 0);
    }
  }

  /** With kernels for bundles of 8 and of 4 row tiles, every front tiled or as it comes. */
  private void device() {
    var random = new Random(SEED);
    List<ContractCase> cases = cases();
    cases.add(natural("tall", TestMatrices.dense(3000, 400, random), random));
    CsrMatrix cells = Gallery.generate("gen:cells3d12");
    double[] b = TestMatrices.vector(cells.rows(), random);
    cases.add(new ContractCase("cells3d12", cells, b, 1, dissected(cells)));
    var options = SchedulerOptions.defaults();
    var tiled = options.withSmallFronts(0, 0);
    for (ContractCase c : cases) {
      device(c, "cuda", options);
      device(c, "cuda tiled 8", tiled.withBundle(8));
      device(c, "cuda tiled 4", tiled.withBundle(4));
    }
  }

  private void device(ContractCase c, String name, SchedulerOptions options) {
    try (var cuda = new CudaSubtreeFactorizer(TestDevice.driver(), 0, options)) {
      ways(c, name, cuda, 0);
    }
  }

  private void chunks(ContractCase c) {
    try (var cpu = new CpuSubtreeFactorizer(BlasLoader.javaKernels("pinned"))) {
      print(c.name + ", cpu with Q", c.keeping(cpu, 2));
    }
  }

  private void reference(ContractCase c) {
    try (var plain = new ReferenceSubtreeFactorizer()) {
      ways(c, "reference", plain, 0);
    }
    // Tiled whatever its size, and in several stages where that is possible.
    var tiled = SchedulerOptions.defaults().withSmallFronts(0, 0).withBundle(3);
    try (var plain = new ReferenceSubtreeFactorizer(tiled)) {
      ways(c, "reference tiled", plain, 3L << 20);
    }
  }

  private void ways(ContractCase c, String backend, SubtreeFactorizer f, long bytes) {
    int[][] cuts = {
      TaskRun.whole(c.analysis), TaskRun.subtrees(c.analysis, 4), TaskRun.single(c.analysis)
    };
    for (int[] taskOf : cuts) {
      RowBlock rows = c.split().rows();
      var run = TaskRun.run(f, c.analysis, rows, taskOf, new FactorOptions(c.tolerance, 2, bytes));
      print(c.name + ", " + backend, run);
    }
    var options = new FactorOptions(c.tolerance, 1, 0, true);
    print(
        c.name + ", " + backend + " with Q",
        TaskRun.run(f, c.analysis, c.split().rows(), cuts[1], options));
  }

  private void print(String name, TaskRun run) {
    var pivots = new Sum();
    var r = new Sum();
    var right = new Sum();
    long rank = 0;
    for (FrontFactor f : run.fronts) {
      rank += f.rank();
      pivots.add(f.livePivot());
      r.add(TestMatrices.rowsOfR(f));
      right.add(f.rhs());
    }
    right.add(run.residualSquares);
    var q = new Sum();
    for (SubtreeFactor task : run.factors) {
      for (FrontReflectors one : task.reflectors()) {
        q.add(one.own());
        q.add(one.children().child());
        q.add(one.children().row());
        q.add(one.result());
        for (ReflectorBlock b : one.blocks()) {
          q.add(b.segments());
          q.add(b.tau());
          q.add(b.v());
        }
      }
    }
    out.accept(
        "%s, %d tasks, %d stages: rank %d, pivots %s, R %s, right %s, Q %s"
            .formatted(
                name,
                run.problems.size(),
                run.summary == null ? 0 : run.summary.stages(),
                rank,
                pivots,
                r,
                right,
                q));
  }

  /** A checksum of bits. */
  private static final class Sum {
    private final CRC32C crc = new CRC32C();

    void add(int[] values) {
      ByteBuffer bytes = ByteBuffer.allocate(4 * values.length);
      for (int v : values) {
        bytes.putInt(v);
      }
      crc.update(bytes.array());
    }

    void add(double[] values) {
      ByteBuffer bytes = ByteBuffer.allocate(8 * values.length);
      for (double v : values) {
        bytes.putDouble(v);
      }
      crc.update(bytes.array());
    }

    @Override
    public String toString() {
      return "%08x".formatted(crc.getValue());
    }
  }
}
