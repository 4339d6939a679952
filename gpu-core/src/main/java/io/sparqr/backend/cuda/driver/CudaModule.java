/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static java.util.Locale.ROOT;

import java.nio.ByteBuffer;
import java.util.List;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmodule;

/**
 * The kernels on a device, owned: the überkernel for bundles of up to 4 and of up to 8 row tiles.
 */
public final class CudaModule implements AutoCloseable {

  /** Threads of a block: SPARQR_THREADS of the kernels. */
  static final int THREADS = 128;

  /** Blocks that sum the probes' norm: SPARQR_NORM_PARTS. */
  public static final int NORM_PARTS = 64;

  /** Bytes of SparqrStage, the launch's parameter. */
  public static final int STAGE_BYTES = 120;

  private final CudaDriver driver;
  private final CUmodule handle = new CUmodule();
  private final CUfunction round4 = new CUfunction();
  private final CUfunction round8 = new CUfunction();
  private final CUfunction probeNorm = new CUfunction();
  private final CUfunction departures = new CUfunction();
  private final CUfunction[] solves = new CUfunction[SolveKind.values().length];
  private final CUfunction[] sums = new CUfunction[SumKind.values().length];
  private boolean closed;

  /** Loads the kernels, as {@link KernelImage} has them, into the current context. */
  CudaModule(CudaDriver driver, byte[] image) {
    this.driver = driver;
    driver.check("cuModuleLoadData", driver.calls().moduleLoad(handle, image));
    LiveResources.opened(LiveResources.Kind.MODULE);
    try {
      prepare(round4, "sparqr_round_4", 4);
      prepare(round8, "sparqr_round_8", 8);
      function(probeNorm, "sparqr_probe_norm");
      function(departures, "sparqr_departures");
      for (SolveKind kind : SolveKind.values()) {
        solves[kind.ordinal()] = new CUfunction();
        function(solves[kind.ordinal()], "sparqr_" + kind.name().toLowerCase(ROOT));
      }
      for (SumKind kind : SumKind.values()) {
        sums[kind.ordinal()] = new CUfunction();
        function(sums[kind.ordinal()], "sparqr_%s_sums".formatted(kind.name().toLowerCase(ROOT)));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private void function(CUfunction function, String name) {
    driver.check(
        "cuModuleGetFunction(" + name + ")", driver.calls().moduleFunction(function, handle, name));
  }

  private void prepare(CUfunction function, String name, int bundle) {
    function(function, name);
    driver.check(
        "cuFuncSetAttribute",
        driver
            .calls()
            .functionAttribute(
                function,
                CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                8 * sharedDoubles(bundle)));
  }

  /**
   * Dynamic shared memory of a block, in doubles: V and T of a bundle and the exchange of Apply; at
   * least what a small front of the default limits needs.
   */
  public static int sharedDoubles(int bundle) {
    return Math.max((bundle > 4 ? 9 : 5) * 1024 + 2048, 10752);
  }

  /** Launches the tasks [first, first + count) of a stage: some of its rounds. */
  public void launch(int bundle, CudaStream stream, ByteBuffer stage, long first, int count) {
    driver.check(
        "cuLaunchKernel",
        driver
            .calls()
            .launch(
                bundle > 4 ? round8 : round4,
                count,
                THREADS,
                8 * sharedDoubles(bundle),
                stream.handle(),
                stage,
                first));
  }

  /** Launches the comparison of column sums and of right-hand sides, by a number of blocks. */
  public void launchComparison(CudaStream stream, ByteBuffer parameter, int rhs, int blocks) {
    for (CUfunction function : List.of(probeNorm, departures)) {
      int count = function == probeNorm ? NORM_PARTS + rhs : blocks;
      driver.check(
          "cuLaunchKernel",
          driver.calls().launch(function, count, THREADS, 0, stream.handle(), parameter, 0));
    }
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

  /** The inputs of column sums, with one kernel each. */
  public enum SumKind {
    /** Packed output rows of a stage. */
    OUTPUT,
    /** Packed input blocks. */
    BLOCK,
    /** S entries of rows. */
    ENTRY,
    /** S entries of right-hand sides; after ENTRY. */
    RHS
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
      LiveResources.closed(LiveResources.Kind.MODULE);
      driver.check("cuModuleUnload", driver.calls().moduleUnload(handle));
    }
  }
}
