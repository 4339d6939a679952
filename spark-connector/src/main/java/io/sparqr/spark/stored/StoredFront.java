/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.stored;

import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.FrontFactor;
import java.nio.DoubleBuffer;

/** The rows of a front in the buffer in which the factorization left them ({@link KeptFronts}). */
final class StoredFront implements FactorSegment {
  private final FrontFactor f;
  private final int[] live;
  private final DoubleBuffer values;
  private final boolean unchecked;

  /** For row i, the index at which its column 0 would be. */
  private final int[] at;

  /** Checks the structure and, if {@code verify}, the values. */
  StoredFront(FrontFactor f, boolean verify) {
    this.f = f;
    unchecked = f.bits() != 0 && !verify;
    f.requireRows();
    if (f.bits() != 0 && verify) {
      f.requireSame(f.sum());
    }
    live = f.livePivot();
    values = f.values();
    at = new int[live.length];
    int next = 0;
    for (int i = 0; i < live.length; i++) {
      at[i] = next - live[i];
      next += f.fn() - live[i];
    }
  }

  @Override
  public int front() {
    return f.front();
  }

  @Override
  public int fn() {
    return f.fn();
  }

  @Override
  public int rows() {
    return live.length;
  }

  @Override
  public int livePivot(int i) {
    return live[i];
  }

  @Override
  public void row(int i, double[] into) {
    values.get(at[i] + live[i], into, live[i], f.fn() - live[i]);
  }

  @Override
  public void row(int i, int from, int to, double[] into) {
    values.get(at[i] + from, into, 0, to - from);
  }

  @Override
  public boolean unchecked() {
    return unchecked;
  }

  @Override
  public void requireSum(long read) {
    f.requireSame(read + BitChecksum.sum(f.rhs()));
  }

  @Override
  public double rhs(int i, int k) {
    return f.rhs()[i * f.rhsCount() + k];
  }
}
