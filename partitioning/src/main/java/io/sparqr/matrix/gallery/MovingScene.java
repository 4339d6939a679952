/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import java.io.Serializable;

/**
 * A film of a camera that does not move: a row for each pixel, row by row of the image, a column
 * for each frame, grey values from 0 to 1. The background is a wall, a floor and a door in light
 * that drifts, of rank 3; two figures walk through it and cover 3 to 8 percent of the pixels of
 * each frame; the sensor adds noise. What is background and what is figure is known. A pixel's row
 * depends on its place and the seed alone.
 *
 * @param height of a frame, in pixels
 * @param width of a frame
 * @param frames n
 * @param noise standard deviation of a value; 0: none
 * @param seed selects other figures and other noise
 */
public record MovingScene(int height, int width, int frames, double noise, long seed)
    implements Serializable {

  private static final int FIGURES = 2;
  private static final long PIXEL = 0x9e3779b97f4a7c15L;

  /** m: the pixels of a frame. */
  public int pixels() {
    return Math.multiplyExact(height, width);
  }

  /** The background of a pixel in all frames. */
  public double[] background(int pixel) {
    double y = (pixel / width + 0.5) / height;
    double x = (pixel % width + 0.5) / width;
    double wall = 0.45 + 0.12 * StrictMath.sin(40 * x) * (y < 0.62 ? 1 : 0) + (y < 0.62 ? 0.12 : 0);
    boolean door = x > 0.7 && x < 0.82 && y > 0.22 && y < 0.62;
    double base = door ? 0.3 : wall;
    double window = StrictMath.exp(-8 * ((x - 0.25) * (x - 0.25) + (y - 0.3) * (y - 0.3)));
    double[] values = new double[frames];
    for (int t = 0; t < frames; t++) {
      double time = (double) t / frames;
      double cloud = 0.08 * StrictMath.sin(2 * StrictMath.PI * time);
      double sun = 0.10 * time;
      double evening = 0.06 * StrictMath.cos(3 * StrictMath.PI * time);
      values[t] = base * (1 + cloud) + window * sun + x * evening;
    }
    return values;
  }

  /** What the figures add to the background of a pixel in all frames: 0 where there is none. */
  public double[] figures(int pixel) {
    double y = pixel / width + 0.5;
    double x = pixel % width + 0.5;
    double[] behind = background(pixel);
    double[] values = new double[frames];
    for (int f = 0; f < FIGURES; f++) {
      var random = new GalleryRandom(seed + (f + 1) * PIXEL);
      double size = height * (0.36 + 0.1 * random.uniform());
      double grey = f % 2 == 0 ? 0.08 + 0.05 * random.uniform() : 0.9 - 0.05 * random.uniform();
      double ground = height * (0.78 + 0.16 * random.uniform());
      double begin = random.uniform();
      double crossings = (f % 2 == 0 ? 1 : -1) * (1.2 + 0.6 * random.uniform());
      for (int t = 0; t < frames; t++) {
        double at = width * (begin + crossings * t / frames);
        double aside = x - at - width * Math.floor((x - at) / width + 0.5);
        if (covers(aside / size, (ground - y) / size)) {
          values[t] = grey - behind[t];
        }
      }
    }
    return values;
  }

  /** Whether a place is within a figure that is 1 high, seen from its feet. */
  private static boolean covers(double aside, double above) {
    double body = (above - 0.42) / 0.42;
    double head = above - 0.9;
    return aside * aside / (0.17 * 0.17) + body * body < 1
        || aside * aside + head * head < 0.1 * 0.1;
  }

  /** What the camera sees of a pixel in all frames. */
  public double[] row(int pixel) {
    double[] seen = background(pixel);
    double[] figures = figures(pixel);
    var random = new GalleryRandom(~seed + (pixel + 1) * PIXEL);
    for (int t = 0; t < frames; t++) {
      seen[t] += figures[t] + (noise == 0 ? 0 : noise * random.normal());
    }
    return seen;
  }

  /** All rows. */
  public double[][] matrix() {
    double[][] all = new double[pixels()][];
    for (int p = 0; p < all.length; p++) {
      all[p] = row(p);
    }
    return all;
  }
}
