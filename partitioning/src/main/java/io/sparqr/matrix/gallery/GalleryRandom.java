/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

/**
 * SplitMix64 (Steele, Lea, Flood 2014): written here, so that a seed gives the same matrix on every
 * release of Java.
 */
public final class GalleryRandom {

  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private long state;

  GalleryRandom(long seed) {
    state = mix(seed * GOLDEN);
  }

  /** 64 random bits. */
  long bits() {
    state += GOLDEN;
    return mix(state);
  }

  /** In [0, 1), 53 bits. */
  double uniform() {
    return (bits() >>> 11) * 0x1p-53;
  }

  /** Normal with mean 0 and variance 1 (Box and Muller 1958), by two numbers each time. */
  double normal() {
    double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - uniform()));
    return radius * StrictMath.cos(2 * StrictMath.PI * uniform());
  }

  /** +-[0.5, 1.5). */
  double value() {
    long b = bits();
    double magnitude = 0.5 + (b >>> 11) * 0x1p-53;
    return (b & 1) == 0 ? magnitude : -magnitude;
  }

  /** The finalizer of SplitMix64: a hash of 64 bits. */
  public static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
