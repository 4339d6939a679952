/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * Rules of relaxed amalgamation: a front is merged into its parent (any number of children may be)
 * when the merged front has at most {@code width0} pivot columns, or adds no zeros, or has at most
 * {@code width1} columns and a fraction of zeros under {@code zeros1}, or at most {@code width2}
 * and under {@code zeros2}, or any width and under {@code zeros3} (Ashcraft and Grimes 1989; the
 * rules and defaults of CHOLMOD's supernodal analysis). In addition, a front of more than 100,000
 * entries must not become more than a tenth wider, because its work would be done at the merged
 * width.
 *
 * @param width0 pivot columns always merged; default 4
 * @param width1 default 16
 * @param width2 default 48
 * @param zeros1 default 0.8
 * @param zeros2 default 0.1
 * @param zeros3 default 0.05
 */
public record Amalgamation(
    int width0, int width1, int width2, double zeros1, double zeros2, double zeros3)
    implements Serializable {

  /** 4, 16, 48; 0.8, 0.1, 0.05. */
  public static Amalgamation defaults() {
    return new Amalgamation(4, 16, 48, 0.8, 0.1, 0.05);
  }

  /** No relaxation: fundamental supernodes unchanged. */
  public static Amalgamation none() {
    return new Amalgamation(0, 0, 0, 0, 0, 0);
  }

  /**
   * Whether any front may be merged for another reason than that no zeros are added. By hand: a
   * record's own comparison takes 46 classes at its first use.
   */
  boolean relaxed() {
    return width0 != 0 || width1 != 0 || width2 != 0 || zeros1 != 0 || zeros2 != 0 || zeros3 != 0;
  }
}
