/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

/** SplitMix64 (Steele, Lea, Flood 2014): a seed means the same problem on every release of Java. */
final class SplitMix {

  private long state;

  SplitMix(long seed) {
    state = mix(seed + 0x9e3779b97f4a7c15L);
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  long bits() {
    state += 0x9e3779b97f4a7c15L;
    return mix(state);
  }

  /** In [0, 1). */
  double uniform() {
    return (bits() >>> 11) * 0x1p-53;
  }

  /** +-[0.5, 1.5). */
  double value() {
    long b = bits();
    double magnitude = 0.5 + (b >>> 11) * 0x1p-53;
    return (b & 1) == 0 ? magnitude : -magnitude;
  }

  /** In [0, n). */
  int below(int n) {
    return (int) (uniform() * n);
  }

  /** In [least, most], as likely in every octave. */
  double logUniform(double least, double most) {
    return least * Math.pow(most / least, uniform());
  }
}
