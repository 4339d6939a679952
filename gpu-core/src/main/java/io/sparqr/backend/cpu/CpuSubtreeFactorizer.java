/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;

/**
 * Multifrontal QR of a subtree task on the host's cores (Davis 2011, section 3: staircase fronts,
 * Heath's rank detection, packed contribution blocks). Subtrees run in parallel, and at the top of
 * the tree idle threads help with the trailing updates of large fronts. A small task takes fewer
 * threads than it may, down to the caller's alone. Stateless: one instance may serve many tasks at
 * once.
 */
public final class CpuSubtreeFactorizer implements SubtreeFactorizer {

  private final DenseKernels kernels;
  private final GramRule rule;
  private final double threadWork;

  /** On the BLAS of this JVM. */
  public CpuSubtreeFactorizer() {
    this(BlasLoader.kernels());
  }

  /** On given kernels. */
  public CpuSubtreeFactorizer(DenseKernels kernels) {
    this(kernels, GramRule.DEFAULT);
  }

  /** With another choice of the fronts that are tried by their Gram matrix. */
  CpuSubtreeFactorizer(DenseKernels kernels, GramRule rule) {
    this(kernels, rule, TreeRun.THREAD_WORK);
  }

  /**
   * With another limit of threads.
   *
   * @param threadWork a task has at most a thread for each so many flops; 0: all that it may have
   */
  CpuSubtreeFactorizer(DenseKernels kernels, GramRule rule, double threadWork) {
    this.kernels = kernels;
    this.rule = rule;
    this.threadWork = threadWork;
  }

  @Override
  public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
    long start = System.nanoTime();
    var state = new SubtreeState(problem, options, rule);
    TreeRun.run(state, kernels, TreeRun.payingThreads(state, options.threads(), threadWork));
    SubtreeFactor made = state.result(description(), (System.nanoTime() - start) * 1e-9);
    return kernels.warning().map(w -> made.with(made.summary().warning(w))).orElse(made);
  }

  @Override
  public String description() {
    return "cpu: " + kernels.description();
  }

  @Override
  public void close() {
    // Nothing to release: threads live only during a call.
  }
}
