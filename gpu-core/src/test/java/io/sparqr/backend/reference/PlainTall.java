/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import java.nio.ByteBuffer;

/**
 * The kernels of {@code dense/tall.cuh} on a device of {@link PlainCalls}, column by column. The
 * pass writes the Gram matrix itself, not its parts.
 */
final class PlainTall {

  private static final int BLOCK = 48;
  private static final int ROWS = 64;

  private final PlainCalls driver;
  private final int device;
  private final ByteBuffer p;
  private final int columns;
  private final int padded;

  PlainTall(PlainCalls driver, int device, ByteBuffer parameter) {
    this.driver = driver;
    this.device = device;
    p = parameter;
    columns = p.getInt(124);
    padded = BLOCK * p.getInt(128);
  }

  /** Values of a device's memory from an address on. */
  private final class Place {
    final double[] all;
    final int at;

    Place(int field) {
      long address = p.getLong(field);
      all = driver.at(address, device).doubles();
      at = driver.offset(address) / 8;
    }

    double get(int k) {
      return all[at + k];
    }

    void set(int k, double value) {
      all[at + k] = value;
    }
  }

  private boolean ended() {
    return state() != 0;
  }

  private long state() {
    return Double.doubleToRawLongBits(new Place(72).get(0));
  }

  private void set(int bit) {
    new Place(72).set(0, Double.longBitsToDouble(state() | bit));
  }

  void pass() {
    if (ended()) {
      return;
    }
    Place gram = new Place(16);
    for (int i = 0; i < padded; i++) {
      for (int j = i; j < padded; j++) {
        gram.set(i * padded + j, i == j && i >= columns ? 1 : 0);
      }
    }
    for (int k = 0; k < p.getInt(112); k++) {
      long first = k * p.getLong(104) / p.getInt(112) * ROWS;
      double[] tile = new double[columns * columns];
      for (long i = first; i < Math.min(first + ROWS, p.getLong(96)); i++) {
        add((int) i, tile);
      }
      for (int i = 0; i < columns; i++) {
        for (int j = i; j < columns; j++) {
          gram.set(i * padded + j, gram.get(i * padded + j) + tile[i * columns + j]);
        }
      }
    }
  }

  private void add(int row, double[] tile) {
    Place a = new Place(0);
    Place start = new Place(48);
    double[] x = new double[columns];
    for (int j = 0; j < columns; j++) {
      x[j] = a.get(row * p.getInt(120) + j);
      for (int k = 0; p.getInt(132) != 0 && k < j; k++) {
        x[j] -= x[k] * start.get(k * padded + j);
      }
      x[j] /= p.getInt(132) != 0 ? start.get(j * padded + j) : 1;
    }
    for (int i = 0; i < columns; i++) {
      for (int j = i; j < columns; j++) {
        tile[i * columns + j] += x[i] * x[j];
      }
    }
  }

  void cholesky() {
    if (ended()) {
      return;
    }
    Place gram = new Place(16);
    Place factor = new Place(24);
    Place measures = new Place(64);
    for (int j = 0; j < padded; j++) {
      for (int i = 0; i < padded; i++) {
        double value = i > j ? 0 : gram.get(i * padded + j);
        for (int k = 0; k < i && i <= j; k++) {
          value -= factor.get(i * padded + k) * factor.get(j * padded + k);
        }
        double diagonal = gram.get(j * padded + j);
        if (i == j) {
          measures.set(j, value / diagonal);
          measures.set(2 * padded + j, diagonal);
          if (!(value >= p.getDouble(80) * diagonal)) {
            set(p.getInt(132) != 0 ? 4 : 1);
          }
          value = Math.sqrt(value);
        } else if (i < j) {
          value /= factor.get(i * padded + i);
        }
        factor.set(j * padded + i, value);
      }
    }
  }

  void pack() {
    if (ended()) {
      return;
    }
    Place factor = new Place(24);
    Place start = new Place(48);
    for (int i = 0; i < padded; i++) {
      for (int j = 0; j < padded; j++) {
        start.set(i * padded + j, factor.get(j * padded + i));
      }
    }
    for (int k = 0; k < padded; k++) {
      double growth = growth(start, k / BLOCK * BLOCK, k);
      new Place(64).set(padded + k, growth);
      if (!(growth <= p.getDouble(88))) {
        set(2);
      }
    }
  }

  /** || |U| |U^-1| |U| e_k || / ||U e_k||. */
  private double growth(Place start, int first, int k) {
    double[] u = new double[BLOCK];
    double[] x = new double[BLOCK];
    double norm = 0;
    for (int i = 0; i < BLOCK; i++) {
      u[i] = Math.abs(start.get((first + i) * padded + k));
      norm += u[i] * u[i];
    }
    for (int c = 0; c < BLOCK; c++) {
      double[] e = new double[BLOCK];
      e[c] = 1;
      for (int i = c; i >= 0; i--) {
        e[i] /= start.get((first + i) * (padded + 1));
        for (int r = 0; r < i; r++) {
          e[r] -= start.get((first + r) * padded + first + i) * e[i];
        }
        x[i] += Math.abs(e[i]) * u[c];
      }
    }
    double grown = 0;
    for (int i = 0; i < BLOCK; i++) {
      double sum = 0;
      for (int j = i; j < BLOCK; j++) {
        sum += Math.abs(start.get((first + i) * padded + first + j)) * x[j];
      }
      grown += sum * sum;
    }
    return Math.sqrt(grown / norm);
  }

  void finish() {
    if (ended()) {
      return;
    }
    Place factor = new Place(24);
    Place start = new Place(48);
    Place out = new Place(56);
    Place measures = new Place(64);
    int at = 0;
    for (int i = 0; i < columns; i++) {
      for (int j = i; j < columns; j++) {
        double sum = 0;
        for (int k = i; k <= j; k++) {
          sum += factor.get(k * padded + i) * start.get(k * padded + j);
        }
        out.set(at++, sum);
      }
    }
    for (int j = 0; j < padded; j++) {
      double[] e = new double[padded];
      e[j] = 1;
      double square = 0;
      for (int i = j; i >= 0; i--) {
        e[i] /= factor.get(i * (padded + 1));
        for (int r = 0; r < i; r++) {
          e[r] -= factor.get(i * padded + r) * e[i];
        }
        square += e[i] * e[i];
      }
      measures.set(3 * padded + j, square);
    }
  }
}
