/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.resident.FrontProduct;
import io.sparqr.backend.cuda.resident.FrontProduct.Matrix;
import io.sparqr.backend.cuda.resident.FrontProduct.Start;
import io.sparqr.backend.cuda.resident.MatrixSums.Sums;
import io.sparqr.backend.cuda.transfer.DenseRows;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.product.ProductList;
import io.sparqr.numeric.integrity.DenseSums;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Products with Q and Q' of a dense front that keeps them, and Q itself. The lists of both
 * directions and the room of a product's matrix stay on the device. Not thread-safe.
 */
final class DenseProducts implements AutoCloseable {

  private final DenseFront front;
  private final DeviceLane lane;
  private final int rows;

  /** With Q, and with Q'. */
  private final FrontProduct[] product = new FrontProduct[2];

  private @Nullable DeviceBuffer matrix;

  DenseProducts(DenseFront front) {
    this.front = front;
    lane = front.lane();
    rows = front.descriptor().fm();
  }

  /** B := Q B or Q'B, m x width, row-major. */
  void multiply(double[] b, int width, boolean transposed) {
    lane.device().bind();
    Matrix c = zeros(width);
    // before the rows, which another stream sends
    lane.compute().synchronize();
    var its = new DenseRows(c.c(), width, c.columns());
    long[] sent = its.send(lane.transfers(), lane.workers(), b, rows, DenseRows.unscaled());
    Sums before = sums(c, width);
    DenseFront.requireSame(sent, before.bits());
    double[] scale = ColumnScale.of(b, rows, before.sums());
    if (scale.length > 0) {
      sent = its.send(lane.transfers(), lane.workers(), b, rows, scale);
      before = sums(c, width);
      DenseFront.requireSame(sent, before.bits());
    }
    run(c, Start.MATRIX, transposed);
    Sums after = sums(c, width);
    DenseSums.require(before.sums().departure(after.sums()), front.steps(), "a product with Q");
    DenseFront.requireSame(after.bits(), its.fetch(lane.transfers(), lane.workers(), b, rows));
    for (int k = 0; scale.length > 0 && k < b.length; k++) {
      b[k] /= scale[k % width];
    }
  }

  /** Makes the first columns of Q and leaves them on the device. */
  void make(int width) {
    lane.device().bind();
    run(zeros(width), Start.IDENTITY, false);
  }

  /**
   * Makes the first columns of Q, checks them by Q'Q = I and Q (R u) = A u, and fetches them.
   *
   * @param q receives m x width values, row-major
   * @param image R u, n values
   * @param probe A u, m values
   */
  void makeAndFetch(double[] q, int width, double[] image, double[] probe) {
    make(width);
    Matrix c = room(width);
    Sums made = sums(c, width);
    DenseSums.require(DenseSums.ofIdentity(width).departure(made.sums()), front.steps(), "Q'Q");
    double[] product =
        front.sums(width).times(c.c().address(), c.columns(), rows, Arrays.copyOf(image, width));
    double off = 0;
    for (int i = 0; i < rows; i++) {
      double d = product[i] - probe[i];
      off += d * d;
    }
    double norm = 0;
    for (double x : image) {
      norm += x * x;
    }
    DenseSums.require(Math.sqrt(norm == 0 ? off : off / norm), front.steps(), "Q R");
    var its = new DenseRows(c.c(), width, c.columns());
    DenseFront.requireSame(made.bits(), its.fetch(lane.transfers(), lane.workers(), q, rows));
  }

  private Sums sums(Matrix c, int width) {
    return front.sums(width).of(c.c().address(), c.columns(), rows, width, false);
  }

  private void run(Matrix c, Start start, boolean transposed) {
    int k = transposed ? 1 : 0;
    if (product[k] == null) {
      var schedule = Objects.requireNonNull(front.program().schedule().frontSchedule(0));
      product[k] =
          new FrontProduct(
              lane.device().driver(),
              lane.transfers(),
              lane.workers(),
              ProductList.of(schedule, front.descriptor().rowTiles(), transposed),
              transposed);
    }
    front.timed(
        () ->
            product[k].run(
                lane.device().module(),
                lane.memory(),
                front.descriptor(),
                front.bundle(),
                c,
                start,
                lane.compute(),
                lane.session().pinned()));
  }

  private long bytes(int width) {
    return 8L * TaskLayout.TILE * front.descriptor().rowTiles() * width;
  }

  /** Room for a product's matrix; the last one's, if that is enough. */
  private Matrix room(int width) {
    int padded = TaskLayout.tiles(width) * TaskLayout.TILE;
    DeviceBuffer last = matrix;
    if (last != null && last.bytes() < bytes(padded)) {
      matrix = null;
      last.close();
      last = null;
    }
    if (last == null) {
      last = new DeviceBuffer(lane.device().driver(), bytes(padded));
      matrix = last;
    }
    return new Matrix(last, padded);
  }

  private Matrix zeros(int width) {
    Matrix c = room(width);
    lane.compute().fill(c.c().at(0), (byte) 0, bytes(c.columns()));
    return c;
  }

  @Override
  public void close() {
    for (FrontProduct each : product) {
      if (each != null) {
        each.close();
      }
    }
    if (matrix != null) {
      matrix.close();
    }
  }
}
