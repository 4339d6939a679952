/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import java.util.function.BooleanSupplier;

/**
 * Random problems: family, shape, order, values, units, dependent columns. Every even one has more
 * flops than a given number, every odd one fewer; sizes are found by the symbolic analysis: begun
 * small, changed until the flops fit. A problem is a function of the seed and its number.
 */
final class Sweep {

  private static final int ATTEMPTS = 10;

  /** Heap bytes for each entry of a matrix, with copies and everything made from it. */
  private static final double MOST_ENTRIES = 250e6;

  private static final double BYTES_PER_ENTRY = 300;

  private final CaseRunner runner;
  private final double large;
  private final double most;
  private final long seed;

  /** Problems below and above {@code large} Gflop, {@code most} at most. */
  Sweep(CaseRunner runner, double large, double most, long seed) {
    this.runner = runner;
    this.large = large;
    this.most = most;
    this.seed = seed;
  }

  /**
   * A kind of problems: a name by shape numbers in [0, 1) and a size; flops are about its power.
   */
  private enum Family {
    DENSE(3, false) {
      @Override
      String name(double[] u, double s) {
        return "dense:" + rounded(s * Math.pow(32, u[0])) + "x" + rounded(s);
      }

      @Override
      double entries(double[] u, double s) {
        return s * s * Math.pow(32, u[0]);
      }
    },
    TALL(2, false) {
      @Override
      String name(double[] u, double s) {
        return "dense:" + rounded(s * s * (5 + 50 * u[0])) + "x" + rounded(s);
      }

      @Override
      double entries(double[] u, double s) {
        return s * s * s * (5 + 50 * u[0]);
      }
    },
    BLOCKS(3, false) {
      @Override
      String name(double[] u, double s) {
        return blocks("blocks:", u, s);
      }

      @Override
      double entries(double[] u, double s) {
        return 4 * s * s;
      }
    },
    STAIRS(3, false) {
      @Override
      String name(double[] u, double s) {
        return blocks("stairs:", u, s);
      }

      @Override
      double entries(double[] u, double s) {
        return 4 * s * s;
      }
    },
    BAND(3, false) {
      @Override
      String name(double[] u, double s) {
        int n = rounded(s * (2 + 20 * u[0]));
        return "band:" + rounded(n * (1 + 2 * u[1])) + "x" + n + "x" + rounded(s);
      }

      @Override
      double entries(double[] u, double s) {
        return s * s * (2 + 20 * u[0]) * (1 + 2 * u[1]);
      }
    },
    SPARSE(3, false) {
      @Override
      String name(double[] u, double s) {
        int n = rounded(4 * s);
        return "sparse:" + rounded(n * (1.2 + 3 * u[0])) + "x" + n + "x" + (2 + (int) (6 * u[1]));
      }

      @Override
      double entries(double[] u, double s) {
        return 4 * s * (1.2 + 3 * u[0]) * 9;
      }
    },
    CHESSBOARD(8, true) {
      @Override
      String name(double[] u, double s) {
        int p = Math.max(3, (int) Math.round(s - u[0]));
        int k = u[1] < 0.7 ? Math.min(3, p - 1) : 2;
        return "ch" + p + "-" + rounded(s + u[0]) + "-b" + k;
      }

      @Override
      double entries(double[] u, double s) {
        return Math.pow(s + 1, 8) / 6;
      }
    },
    ASSIGNMENT(9, true) {
      @Override
      String name(double[] u, double s) {
        return "nug" + rounded(s);
      }

      @Override
      double entries(double[] u, double s) {
        return 2 * Math.pow(s, 4);
      }
    },
    CELLS2D(3, true) {
      @Override
      String name(double[] u, double s) {
        return "cells2d" + rounded(s);
      }

      @Override
      double entries(double[] u, double s) {
        return 8 * s * s;
      }
    },
    CELLS3D(6, true) {
      @Override
      String name(double[] u, double s) {
        return "cells3d" + rounded(s);
      }

      @Override
      double entries(double[] u, double s) {
        return 16 * s * s * s;
      }
    },
    GRADIENT(6, true) {
      @Override
      String name(double[] u, double s) {
        return "grad3d" + rounded(s);
      }

      @Override
      double entries(double[] u, double s) {
        return 7 * s * s * s;
      }
    },
    ONE_HOT(3, true) {
      @Override
      String name(double[] u, double s) {
        int rows = rounded(s * (20 + 400 * u[0]));
        int second = rounded(1 + s * u[1] / 4);
        return "onehot" + rows + "x" + rounded(s) + "x" + second + "x" + (2 + (int) (60 * u[2]));
      }

      @Override
      double entries(double[] u, double s) {
        return 8 * s * (20 + 400 * u[0]);
      }
    };

    private final double power;
    private final boolean gallery;

    Family(double power, boolean gallery) {
      this.power = power;
      this.gallery = gallery;
    }

    abstract String name(double[] u, double s);

    /** Of the matrix, about. */
    abstract double entries(double[] u, double s);

    private static int rounded(double x) {
      return Math.max(2, (int) Math.round(Math.min(x, 1e9)));
    }

    /** 2 to 40 blocks with about s columns in all, a third of them common at most. */
    private static String blocks(String kind, double[] u, double s) {
      int count = 2 + (int) (38 * u[0] * u[0]);
      int own = rounded(s / count);
      int common = rounded(s * u[1] / 3);
      int rows = rounded(own * (1.1 + 2 * u[2]) + (double) common / count);
      return kind + count + "x" + rows + "x" + own + "x" + common;
    }
  }

  /** Problem number k, or null if there is no time left to find it. */
  SurveyCase draw(int k, BooleanSupplier inTime) {
    var random = new SplitMix(seed * 1_000_003 + k);
    boolean isLarge = k % 2 == 0;
    double least = isLarge ? large : large * 1e-7;
    double goal = 1e9 * random.logUniform(least, isLarge ? most : large);
    double low = isLarge ? 1e9 * large : 0;
    double high = isLarge ? 1e9 * most : 1e9 * large;
    double heap = Runtime.getRuntime().maxMemory();
    while (inTime.getAsBoolean()) {
      Family family = Family.values()[random.below(Family.values().length)];
      double[] u = {random.uniform(), random.uniform(), random.uniform()};
      String suffix = suffix(family, random);
      double s = family.power > 5 ? 4 : 20;
      for (int t = 0; t < ATTEMPTS && inTime.getAsBoolean(); t++) {
        if (family.entries(u, s) > Math.min(MOST_ENTRIES, heap / BYTES_PER_ENTRY)) {
          break;
        }
        SurveyCase c = SurveyCase.parse(family.name(u, s) + suffix);
        double flops = Math.max(1, runner.analyze(c, c.generate().a()).flops());
        if (flops >= low && flops <= high && (flops >= goal / 3 || t == ATTEMPTS - 1)) {
          return c;
        }
        // small steps: the power is a guess, and a problem that is too large takes long
        s *= Math.pow(Math.min(64, Math.max(0.1, goal / flops)), 1 / family.power);
      }
    }
    return null;
  }

  private static String suffix(Family family, SplitMix random) {
    var text = new StringBuilder();
    boolean values = family.gallery && random.uniform() < 0.6;
    text.append(values ? ":rand" : "").append(":seed=").append(1 + random.below(1_000_000));
    boolean dependent = random.uniform() < 0.25;
    text.append(dependent ? ":dependent=" + (1 + random.below(20)) : "");
    boolean raw = random.uniform() < 0.2;
    text.append(raw ? ":raw" : "");
    double units = random.uniform();
    if (units < 0.3) {
      // within 2^8 nothing is near the tolerance, which is of the largest column
      text.append(":units=").append(1 + random.below(100)).append(raw ? "x8" : "x300");
    }
    text.append(random.uniform() < 0.15 ? ":consistent" : "");
    boolean full = !dependent && (family == Family.DENSE || family == Family.TALL);
    text.append(full && random.uniform() < 0.3 ? ":norank" : "");
    String[] orders = {"nd", "colamd", family.gallery ? "auto" : "natural"};
    return text + "@" + orders[random.below(3)];
  }
}
