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
 * the tree idle threads help with the trailing updates of large fronts. Stateless: one instance may
 * serve many tasks at once.
 */
public final class CpuSubtreeFactorizer implements SubtreeFactorizer {

  private final DenseKernels kernels;
  private final GramRule rule;

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
    this.kernels = kernels;
    this.rule = rule;
  }

  @Override
  public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
    long start = System.nanoTime();
    var state = new SubtreeState(problem, options, rule);
    TreeRun.run(state, kernels, options.threads());
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
