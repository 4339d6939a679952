/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.reference.PlainCalls.Progress;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.product.ProductList;
import io.sparqr.numeric.lowrank.RightSvd;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A launch of {@code dense.cu} on a device of {@link PlainCalls}. Tasks of a product are taken in
 * order and end in any order that their counts allow.
 */
final class PlainDense implements PlainCalls.Work {

  private static final int TILE = TaskLayout.TILE;

  /** SPARQR_DENSE_ROWS: so that constant columns have no larger errors than on a device. */
  private static final int SUM_ROWS = 128;

  private final PlainCalls driver;
  private final int device;
  private final String kernel;
  private final ByteBuffer p;
  private final int count;
  private int started;
  private final List<Integer> running = new ArrayList<>();

  PlainDense(PlainCalls driver, int device, String kernel, ByteBuffer parameter, int count) {
    this.driver = driver;
    this.device = device;
    this.kernel = kernel;
    p = ByteBuffer.allocate(parameter.capacity()).order(ByteOrder.nativeOrder());
    p.put(0, parameter, 0, parameter.capacity());
    this.count = count;
  }

  static boolean knows(String kernel) {
    return kernel.startsWith("sparqr_product_")
        || kernel.startsWith("sparqr_dense_")
        || kernel.startsWith("sparqr_pursuit_")
        || kernel.startsWith("sparqr_tall_")
        || kernel.equals("sparqr_jacobi");
  }

  @Override
  public Progress step() {
    switch (kernel) {
      case "sparqr_product_identity" -> identity();
      case "sparqr_product_signs" -> signs();
      case "sparqr_dense_product" -> product();
      case "sparqr_dense_sums" -> sums();
      case "sparqr_pursuit_start" -> start();
      case "sparqr_pursuit_step" -> iterate();
      case "sparqr_jacobi" -> jacobi();
      case "sparqr_tall_sum" -> {}
      case "sparqr_tall_cholesky" -> new PlainTall(driver, device, p).cholesky();
      case "sparqr_tall_pack" -> new PlainTall(driver, device, p).pack();
      case "sparqr_tall_finish" -> new PlainTall(driver, device, p).finish();
      default -> {
        if (!kernel.startsWith("sparqr_tall_pass_")) {
          return task();
        }
        new PlainTall(driver, device, p).pass();
      }
    }
    return Progress.DONE;
  }

  /** Values of a device's memory from an address on. */
  private record Place(double[] all, int at) {}

  private Place place(int field) {
    long address = p.getLong(field);
    return new Place(driver.at(address, device).doubles(), driver.offset(address) / 8);
  }

  private void product() {
    Place a = place(0);
    Place v = place(8);
    Place t = place(16);
    int ld = p.getInt(60);
    for (int i = 0; i < p.getLong(48); i++) {
      double sum = 0;
      for (int j = 0; j < p.getInt(56); j++) {
        sum += a.all[a.at + i * ld + j] * v.all[v.at + j];
      }
      t.all[t.at + i] = sum;
    }
  }

  private void sums() {
    Place a = place(0);
    Place t = place(16);
    Place square = place(24);
    Place probe = place(32);
    Place bits = place(40);
    int ld = p.getInt(60);
    int rows = (int) p.getLong(48);
    for (int j = 0; j < p.getInt(56); j++) {
      long sum = 0;
      for (int first = 0; first < rows; first += SUM_ROWS) {
        double squares = 0;
        double products = 0;
        for (int i = first; i < Math.min(first + SUM_ROWS, rows); i++) {
          double x = a.all[a.at + i * ld + j];
          squares += x * x;
          products += x * t.all[t.at + i];
          sum += Double.doubleToRawLongBits(x);
        }
        square.all[square.at + j] += squares;
        probe.all[probe.at + j] += products;
      }
      bits.all[bits.at + j] = Double.longBitsToDouble(sum);
    }
  }

  private static double shrunk(double x, double t) {
    return x - Math.max(-t, Math.min(t, x));
  }

  private void start() {
    Place m = place(0);
    Place nextS = place(24);
    Place nextY = place(32);
    Place w = place(40);
    int n = p.getInt(128);
    for (int k = 0; k < p.getLong(64) * n; k++) {
      double a = p.getDouble(72) * m.all[m.at + k];
      double y = p.getDouble(120) * a;
      double s = p.getDouble(120) == 0 ? 0 : shrunk(a + y * p.getDouble(80), p.getDouble(104));
      nextS.all[nextS.at + k] = s;
      nextY.all[nextY.at + k] = y;
      w.all[w.at + k / n * p.getInt(136) + k % n] = a - s + y * p.getDouble(80);
    }
  }

  private void iterate() {
    double[] parts = place(56).all;
    java.util.Arrays.fill(parts, 0, 3 * count, 0);
    for (int i = 0; i < p.getLong(64); i++) {
      row(i, parts, 3 * (i / 32));
    }
  }

  private void row(int i, double[] parts, int part) {
    Place m = place(0);
    Place s = place(8);
    Place y = place(16);
    Place w = place(40);
    Place product = place(48);
    double inverse = p.getDouble(80);
    double mu = p.getDouble(88);
    int n = p.getInt(128);
    double[] before = new double[n];
    for (int k = 0; k < n; k++) {
      int at = i * n + k;
      before[k] =
          p.getDouble(72) * m.all[m.at + at] - s.all[s.at + at] + y.all[y.at + at] * inverse;
    }
    for (int j = 0; j < n; j++) {
      double l = 0;
      for (int k = 0; k < n; k++) {
        l += before[k] * product.all[product.at + k * p.getInt(132) + j];
      }
      int at = i * n + j;
      double rest = p.getDouble(72) * m.all[m.at + at] - l;
      double was = s.all[s.at + at];
      double multiplier = y.all[y.at + at];
      boolean alternating = p.getInt(140) != 0;
      double nextY = multiplier + mu * (rest - was);
      double nextS = shrunk(rest + nextY * p.getDouble(96), p.getDouble(104));
      if (alternating) {
        nextS = shrunk(rest + multiplier * inverse, p.getDouble(104));
        nextY = multiplier + mu * (rest - nextS);
      }
      place(24).all[place(24).at + at] = nextS;
      place(32).all[place(32).at + at] = nextY;
      w.all[w.at + i * p.getInt(136) + j] =
          p.getDouble(72) * m.all[m.at + at] - nextS + nextY * p.getDouble(96);
      parts[part] += Math.pow((nextY - multiplier) * p.getDouble(112), 2);
      parts[part + 1] += Math.pow(nextS - was, 2);
      parts[part + 2] += (alternating ? nextS : was) != 0 ? 1 : 0;
    }
  }

  /** By LAPACK instead. */
  private void jacobi() {
    int n = p.getInt(24);
    Place packed = place(0);
    Place out = place(8);
    double[] r = new double[n * n];
    int at = packed.at;
    for (int i = 0; i < n; i++) {
      for (int k = i; k < n; k++) {
        r[i + k * n] = packed.all[at++];
      }
    }
    RightSvd svd = RightSvd.of(r, n);
    for (int k = 0; k < n; k++) {
      // in any order
      int to = n - 1 - k;
      out.all[out.at + to] = svd.sigma()[k];
      for (int j = 0; j < n; j++) {
        out.all[out.at + n + to * n + j] = svd.vt()[k + j * n];
      }
    }
    Place sweeps = place(16);
    sweeps.all[sweeps.at] = Double.longBitsToDouble(3);
  }

  private boolean negated(Place front, int i) {
    return i < p.getInt(80) && front.all[front.at + i * p.getInt(56) + i] < 0;
  }

  private void identity() {
    Place front = place(8);
    Place c = place(24);
    for (int i = 0; i < p.getInt(68); i++) {
      c.all[c.at + i * p.getInt(64) + i] = negated(front, i) ? -1 : 1;
    }
  }

  private void signs() {
    Place front = place(8);
    Place c = place(24);
    for (int i = 0; i < count; i++) {
      for (int j = 0; negated(front, i) && j < p.getInt(68); j++) {
        c.all[c.at + i * p.getInt(64) + j] *= -1;
      }
    }
  }

  private int word(int tile, int group) {
    return driver.offset(p.getLong(40)) + 4 * (tile * p.getInt(76) + group);
  }

  private ByteBuffer counts() {
    return driver.at(p.getLong(40), device).raw();
  }

  private ProductList list() {
    ByteBuffer raw = driver.at(p.getLong(0), device).raw();
    return new ProductList(raw.duplicate().order(ByteOrder.LITTLE_ENDIAN), 0);
  }

  private Progress task() {
    while (running.size() < PlainLaunch.BLOCKS && started < count) {
      running.add(started++);
    }
    if (running.isEmpty()) {
      return Progress.DONE;
    }
    ProductList list = list();
    int k = driver.random().nextInt(running.size());
    for (int n = 0; n < running.size(); n++) {
      int at = (k + n) % running.size();
      int item = running.get(at) / p.getInt(76);
      int group = running.get(at) % p.getInt(76);
      if (ready(list, item, group)) {
        running.remove(at);
        apply(list, item, group);
        for (int s = 0; s < list.size(item); s++) {
          int word = word(list.tile(item, s), group);
          counts().putInt(word, counts().getInt(word) + 1);
        }
        return Progress.SOME;
      }
    }
    return Progress.NONE;
  }

  private boolean ready(ProductList list, int item, int group) {
    for (int s = 0; s < list.size(item); s++) {
      if (counts().getInt(word(list.tile(item, s), group)) < list.need(item, s)) {
        return false;
      }
    }
    return true;
  }

  private void apply(ProductList list, int item, int group) {
    boolean identity = p.getInt(88) != 0;
    int from = Math.max(group * p.getInt(72), identity ? list.column(item) * TILE : 0);
    int to = Math.min((group + 1) * p.getInt(72), p.getInt(68));
    if (from >= to) {
      return;
    }
    Place c = place(24);
    double[][] v = v(list, item);
    Place vt = place(16);
    int t = vt.at + list.slot(item) * TaskLayout.VT_DOUBLES + TILE * TILE;
    boolean transposed = p.getInt(84) != 0;
    for (int j = from; j < to; j++) {
      double[] w = new double[TILE];
      for (int i = 0; i < v.length; i++) {
        for (int k = 0; k < TILE; k++) {
          w[k] += v[i][k] * c.all[at(c, list, item, i, j)];
        }
      }
      double[] u = new double[TILE];
      for (int k = 0; k < TILE; k++) {
        for (int l = 0; l < TILE; l++) {
          u[k] += vt.all[transposed ? t + l * TILE + k : t + k * TILE + l] * w[l];
        }
      }
      for (int i = 0; i < v.length; i++) {
        for (int k = 0; k < TILE; k++) {
          c.all[at(c, list, item, i, j)] -= v[i][k] * u[k];
        }
      }
    }
  }

  /** V of a bundle, 32 values a row. */
  private double[][] v(ProductList list, int item) {
    Place front = place(8);
    Place vt = place(16);
    int ld = p.getInt(56);
    int column = list.column(item) * TILE;
    double[][] v = new double[list.size(item) * TILE][TILE];
    for (int i = 0; i < v.length; i++) {
      for (int k = 0; k < TILE; k++) {
        if (i < TILE) {
          v[i][k] = vt.all[vt.at + list.slot(item) * TaskLayout.VT_DOUBLES + i * TILE + k];
        } else if (column + k < p.getInt(60)) {
          int row = list.tile(item, i / TILE) * TILE + i % TILE;
          v[i][k] = front.all[front.at + row * ld + column + k];
        }
      }
    }
    return v;
  }

  private int at(Place c, ProductList list, int item, int i, int j) {
    int row = list.tile(item, i / TILE) * TILE + i % TILE;
    return c.at + row * p.getInt(64) + j;
  }
}
