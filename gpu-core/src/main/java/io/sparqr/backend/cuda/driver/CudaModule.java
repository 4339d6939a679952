/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static java.util.Locale.ROOT;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmodule;
import org.jspecify.annotations.Nullable;

/**
 * The kernels on a device, owned: the überkernel for bundles of up to 4 and of up to 8 row tiles,
 * column sums, solves with R, and products with Q; a CUDA module for each part of {@link
 * KernelImage}. The rounds of several devices and what dense matrices alone have are loaded by the
 * first launch that wants them.
 */
public final class CudaModule implements AutoCloseable {

  /** Threads of a block: SPARQR_THREADS of the kernels. */
  static final int THREADS = 128;

  /** Blocks that sum the probes' norm: SPARQR_NORM_PARTS. */
  public static final int NORM_PARTS = 64;

  /** Bytes of SparqrStage, the launch's parameter. */
  public static final int STAGE_BYTES = 160;

  /** Of these, what the kernels for one device take; the rest is 0 in a launch of theirs. */
  static final int ONE_STAGE_BYTES = 128;

  /** Threads of the block that {@link #launchJacobi} has. */
  private static final int JACOBI_THREADS = 1024;

  /**
   * Dynamic shared memory of a block of {@link #launchPursuitStep}, or of {@link #launchJacobi}.
   */
  public static final int MOST_SHARED_BYTES = 160 << 10;

  /** Columns of a block of tall matrices: SPARQR_TALL_BLOCK. */
  public static final int TALL_BLOCK = 48;

  /** Most blocks of columns of tall matrices. */
  public static final int MOST_TALL_BLOCKS = 4;

  /** Rows of a tile of tall matrices: SPARQR_TALL_ROWS. */
  public static final int TALL_ROWS = 64;

  /** SPARQR_TALL_THREADS. */
  private static final int TALL_THREADS = 384;

  /** SPARQR_TALL_SUM_THREADS. */
  private static final int TALL_SUM_THREADS = 512;

  /** Of blocks of 16 x 8, {@code Tall::BLOCKS}, by squares of blocks of columns. */
  private static final int TALL_BLOCKS = 9;

  /** The parts that every device loads at the start. */
  static final Set<KernelImage.Part> AT_ONCE =
      Collections.unmodifiableSet(
          EnumSet.of(KernelImage.Part.ROUNDS, KernelImage.Part.SUMS, KernelImage.Part.SOLVES));

  private final CudaDriver driver;
  private final KernelImage image;
  private final Map<KernelImage.Part, CUmodule> loaded = new EnumMap<>(KernelImage.Part.class);
  private final Map<KernelImage.Part, Rounds> rounds = new EnumMap<>(KernelImage.Part.class);
  private final CUfunction probeNorm = new CUfunction();
  private final CUfunction departures = new CUfunction();
  private final CUfunction[] solves = new CUfunction[SolveKind.values().length];
  private final CUfunction[] sums = new CUfunction[SumKind.values().length];
  private @Nullable Dense dense;
  private @Nullable Tall tall;
  private boolean closed;

  /** Loads the kernels, as {@link KernelImage} has them, into the current context. */
  CudaModule(CudaDriver driver, KernelImage image) {
    this.driver = driver;
    this.image = image;
    try {
      AT_ONCE.forEach(this::load);
      rounds(KernelImage.Part.ROUNDS);
      function(KernelImage.Part.SUMS, probeNorm, "sparqr_probe_norm");
      function(KernelImage.Part.SUMS, departures, "sparqr_departures");
      for (SolveKind kind : SolveKind.values()) {
        solves[kind.ordinal()] = new CUfunction();
        function(
            KernelImage.Part.SOLVES,
            solves[kind.ordinal()],
            "sparqr_" + kind.name().toLowerCase(ROOT));
      }
      for (SumKind kind : SumKind.values()) {
        sums[kind.ordinal()] = new CUfunction();
        function(
            KernelImage.Part.SUMS,
            sums[kind.ordinal()],
            "sparqr_%s_sums".formatted(kind.name().toLowerCase(ROOT)));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** The kernels for bundles of up to 4 and up to 8 row tiles. */
  private record Rounds(CUfunction of4, CUfunction of8) {}

  /** The rounds of a part, which is loaded if it is not; in the device's context. */
  private synchronized Rounds rounds(KernelImage.Part part) {
    Rounds known = rounds.get(part);
    if (known == null) {
      if (!loaded.containsKey(part)) {
        load(part);
      }
      known = new Rounds(prepared(part, "sparqr_round_4", 4), prepared(part, "sparqr_round_8", 8));
      rounds.put(part, known);
    }
    return known;
  }

  /** The kernels of dense matrices. */
  private record Dense(
      CUfunction of4,
      CUfunction of8,
      CUfunction identity,
      CUfunction signs,
      CUfunction product,
      CUfunction sums,
      CUfunction pursuitStart,
      CUfunction pursuitStep,
      CUfunction jacobi) {}

  /** The kernels of a tall matrix' Gram matrix; of the pass one by blocks of columns. */
  private record Tall(
      List<CUfunction> pass,
      CUfunction sum,
      CUfunction cholesky,
      CUfunction pack,
      CUfunction finish) {}

  /** They are loaded if they are not; in the device's context. */
  private synchronized Dense dense() {
    Dense known = dense;
    if (known == null) {
      load(KernelImage.Part.DENSE);
      known =
          new Dense(
              prepared(KernelImage.Part.DENSE, "sparqr_product_4", 4),
              prepared(KernelImage.Part.DENSE, "sparqr_product_8", 8),
              ofDense("sparqr_product_identity"),
              ofDense("sparqr_product_signs"),
              ofDense("sparqr_dense_product"),
              ofDense("sparqr_dense_sums"),
              ofDense("sparqr_pursuit_start"),
              ofDense("sparqr_pursuit_step"),
              ofDense("sparqr_jacobi"));
      allow(known.pursuitStep, MOST_SHARED_BYTES);
      allow(known.jacobi, MOST_SHARED_BYTES);
      dense = known;
    }
    return known;
  }

  private synchronized Tall tall() {
    Tall known = tall;
    if (known == null) {
      dense();
      List<CUfunction> pass =
          IntStream.rangeClosed(1, MOST_TALL_BLOCKS)
              .mapToObj(blocks -> ofDense("sparqr_tall_pass_" + blocks))
              .toList();
      for (int blocks = 1; blocks <= MOST_TALL_BLOCKS; blocks++) {
        allow(pass.get(blocks - 1), tallPassBytes(blocks));
      }
      known =
          new Tall(
              pass,
              ofDense("sparqr_tall_sum"),
              ofDense("sparqr_tall_cholesky"),
              ofDense("sparqr_tall_pack"),
              ofDense("sparqr_tall_finish"));
      allow(known.cholesky, tallCholeskyBytes(MOST_TALL_BLOCKS));
      allow(known.finish, tallFinishBytes(MOST_TALL_BLOCKS));
      tall = known;
    }
    return known;
  }

  /** Lets blocks of a kernel have so much dynamic shared memory. */
  private void allow(CUfunction function, int bytes) {
    driver.check(
        "cuFuncSetAttribute",
        driver
            .calls()
            .functionAttribute(
                function,
                CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                bytes));
  }

  private CUfunction ofDense(String name) {
    var function = new CUfunction();
    function(KernelImage.Part.DENSE, function, name);
    return function;
  }

  private void load(KernelImage.Part part) {
    var module = new CUmodule();
    driver.check("cuModuleLoadData", driver.calls().moduleLoad(module, image.of(part)));
    LiveResources.opened(LiveResources.Kind.MODULE);
    loaded.put(part, module);
  }

  private void function(KernelImage.Part part, CUfunction function, String name) {
    driver.check(
        "cuModuleGetFunction(" + name + ")",
        driver.calls().moduleFunction(function, Objects.requireNonNull(loaded.get(part)), name));
  }

  private CUfunction prepared(KernelImage.Part part, String name, int bundle) {
    var function = new CUfunction();
    function(part, function, name);
    allow(function, 8 * sharedDoubles(bundle));
    return function;
  }

  /**
   * Dynamic shared memory of a block, in doubles: V and T of a bundle and the exchange of Apply; at
   * least what a small front of the default limits needs.
   */
  public static int sharedDoubles(int bundle) {
    return Math.max((bundle > 4 ? 9 : 5) * 1024 + 2048, 10752);
  }

  /**
   * Launches the tasks [first, first + count) of a stage: some of its rounds. By the kernels of one
   * device, unless the parameter has something for those of several.
   */
  public void launch(int bundle, CudaStream stream, ByteBuffer stage, long first, int count) {
    Rounds kernels = rounds(ofOne(stage) ? KernelImage.Part.ROUNDS : KernelImage.Part.SEVERAL);
    driver.check(
        "cuLaunchKernel",
        driver
            .calls()
            .launch(
                bundle > 4 ? kernels.of8 : kernels.of4,
                count,
                THREADS,
                8 * sharedDoubles(bundle),
                stream.handle(),
                stage,
                first));
  }

  private static boolean ofOne(ByteBuffer stage) {
    for (int at = ONE_STAGE_BYTES; at < STAGE_BYTES; at += Long.BYTES) {
      if (stage.getLong(at) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Blocks of a stage's tasks that a multiprocessor runs at the same time. */
  public int residentBlocks(int bundle) {
    int[] blocks = {0};
    Rounds kernels = rounds(KernelImage.Part.SEVERAL);
    driver.check(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        driver
            .calls()
            .residentBlocks(
                blocks,
                bundle > 4 ? kernels.of8 : kernels.of4,
                THREADS,
                8 * sharedDoubles(bundle)));
    return blocks[0];
  }

  /** Launches the comparison of column sums and of right-hand sides, by a number of blocks. */
  public void launchComparison(CudaStream stream, ByteBuffer parameter, int rhs, int blocks) {
    launchOne(probeNorm, NORM_PARTS + rhs, stream, parameter);
    launchOne(departures, blocks, stream, parameter);
  }

  private void launchOne(CUfunction function, int blocks, CudaStream stream, ByteBuffer parameter) {
    driver.check(
        "cuLaunchKernel",
        driver.calls().launch(function, blocks, THREADS, 0, stream.handle(), parameter, 0));
  }

  /** The parts of solves with R, with one kernel each. */
  public enum SolveKind {
    /** R'y = c. */
    FORWARD_SUBSTITUTION,
    /** Its backward error, and the bits of R. */
    FORWARD_ERROR,
    /** R x = c. */
    BACK_SUBSTITUTION,
    /** Its backward error. */
    BACK_ERROR
  }

  /** Launches a part of a solve of this many items. */
  public void launchSolve(SolveKind kind, CudaStream stream, ByteBuffer parameter, int items) {
    if (items > 0) {
      CUfunction function = solves[kind.ordinal()];
      driver.check(
          "cuLaunchKernel",
          driver.calls().launch(function, items, THREADS, 0, stream.handle(), parameter, 0));
    }
  }

  /** Launches this many tasks of a product with Q or Q', for bundles of up to {@code bundle}. */
  public void launchProduct(int bundle, CudaStream stream, ByteBuffer parameter, int tasks) {
    Dense kernels = dense();
    driver.check(
        "cuLaunchKernel",
        driver
            .calls()
            .launch(
                bundle > 4 ? kernels.of8 : kernels.of4,
                tasks,
                THREADS,
                8 * sharedDoubles(bundle),
                stream.handle(),
                parameter,
                0));
  }

  /** Makes the product's matrix, which is zero, the identity. */
  public void launchIdentity(CudaStream stream, ByteBuffer parameter, int columns) {
    launchOne(dense().identity, (columns + THREADS - 1) / THREADS, stream, parameter);
  }

  /** Gives the matrix's rows the signs of the rows of R. */
  public void launchSigns(CudaStream stream, ByteBuffer parameter, int rows) {
    launchOne(dense().signs, rows, stream, parameter);
  }

  /** Launches the product of a dense matrix and a vector. */
  public void launchDenseProduct(CudaStream stream, ByteBuffer parameter, int blocks) {
    launchOne(dense().product, blocks, stream, parameter);
  }

  /** Launches the sums of a dense matrix' columns. */
  public void launchDenseSums(CudaStream stream, ByteBuffer parameter, int blocks) {
    launchOne(dense().sums, blocks, stream, parameter);
  }

  /** Launches what begins Robust PCA. */
  public void launchPursuitStart(CudaStream stream, ByteBuffer parameter, int blocks) {
    launchOne(dense().pursuitStart, blocks, stream, parameter);
  }

  /**
   * Launches an iteration of Robust PCA.
   *
   * @param sharedBytes of a block, at most {@link #MOST_SHARED_BYTES}
   */
  public void launchPursuitStep(
      CudaStream stream, ByteBuffer parameter, int blocks, int sharedBytes) {
    driver.check(
        "cuLaunchKernel",
        driver
            .calls()
            .launch(
                dense().pursuitStep, blocks, THREADS, sharedBytes, stream.handle(), parameter, 0));
  }

  /**
   * Launches the SVD of a triangle, by one block.
   *
   * @param sharedBytes at most {@link #MOST_SHARED_BYTES}
   */
  public void launchJacobi(CudaStream stream, ByteBuffer parameter, int sharedBytes) {
    driver.check(
        "cuLaunchKernel",
        driver
            .calls()
            .launch(dense().jacobi, 1, JACOBI_THREADS, sharedBytes, stream.handle(), parameter, 0));
  }

  /** Shared memory that a block needs for the kernels of tall matrices, in bytes. */
  public static int tallBytes() {
    return Math.max(tallPassBytes(MOST_TALL_BLOCKS), tallCholeskyBytes(MOST_TALL_BLOCKS));
  }

  /** Two tiles: {@code Tall<blocks>::BYTES}. */
  private static int tallPassBytes(int blocks) {
    return 2 * TALL_ROWS * (TALL_BLOCK * blocks + 4) * Double.BYTES;
  }

  private static int tallCholeskyBytes(int blocks) {
    return TALL_BLOCK * (TALL_BLOCK + 4) * (blocks * (blocks + 1) / 2 + 1) * Double.BYTES;
  }

  private static int tallFinishBytes(int blocks) {
    int columns = TALL_BLOCK * blocks;
    return columns * (columns + 1) / 2 * Double.BYTES;
  }

  /**
   * Launches what makes a Gram matrix of a tall matrix and its Cholesky factor.
   *
   * @param blocks of 48 columns
   * @param parts of the rows
   */
  public void launchTallGram(CudaStream stream, ByteBuffer parameter, int blocks, int parts) {
    Tall kernels = tall();
    launchTall(
        kernels.pass.get(blocks - 1),
        parts,
        TALL_THREADS,
        tallPassBytes(blocks),
        stream,
        parameter);
    launchTall(
        kernels.sum,
        TALL_BLOCKS * blocks * blocks + 3 * blocks,
        TALL_SUM_THREADS,
        0,
        stream,
        parameter);
    launchTall(kernels.cholesky, 1, TALL_THREADS, tallCholeskyBytes(blocks), stream, parameter);
  }

  /** Launches what makes of the factor that is there the preconditioner of the next pass. */
  public void launchTallPack(CudaStream stream, ByteBuffer parameter, int blocks) {
    int pairs = blocks * (blocks + 1) / 2;
    launchTall(tall().pack, pairs, TALL_THREADS, 0, stream, parameter);
  }

  /** Launches what makes R, and measures the pass. */
  public void launchTallFinish(CudaStream stream, ByteBuffer parameter, int blocks) {
    int grid = TALL_BLOCK * blocks / 2;
    launchTall(tall().finish, grid, THREADS, tallFinishBytes(blocks), stream, parameter);
  }

  private void launchTall(
      CUfunction function,
      int blocks,
      int threads,
      int sharedBytes,
      CudaStream stream,
      ByteBuffer parameter) {
    driver.check(
        "cuLaunchKernel",
        driver
            .calls()
            .launch(function, blocks, threads, sharedBytes, stream.handle(), parameter, 0));
  }

  /** The inputs of column sums, with one kernel each. */
  public enum SumKind {
    /** Packed output rows of a stage. */
    OUTPUT,
    /** Packed input blocks. */
    BLOCK,
    /** S entries of right-hand sides: squares, and what they add to the probe of their rows. */
    RHS,
    /** S entries of rows; after RHS. */
    ENTRY,
    /** S entries of several right-hand sides: their probes; after ENTRY. */
    RHS_PROBE
  }

  /** Launches column sums over a number of chunks. */
  public void launchSums(SumKind kind, CudaStream stream, ByteBuffer parameter, int chunks) {
    CUfunction function = sums[kind.ordinal()];
    driver.check(
        "cuLaunchKernel",
        driver.calls().launch(function, chunks, THREADS, 0, stream.handle(), parameter, 0));
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      for (CUmodule module : loaded.values()) {
        LiveResources.closed(LiveResources.Kind.MODULE);
        driver.check("cuModuleUnload", driver.calls().moduleUnload(module));
      }
    }
  }
}
