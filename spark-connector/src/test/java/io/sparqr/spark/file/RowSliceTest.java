/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.Triplets;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import org.junit.jupiter.api.Test;

class RowSliceTest {

  @Test
  void whatTravelsIsWhatLocalTasksRead() throws IOException, ClassNotFoundException {
    CsrMatrix a = Gallery.generate("onehot40x6x3");
    double[] b = new double[2 * a.rows()];
    for (int k = 0; k < b.length; k++) {
      b[k] = k;
    }
    DenseMatrix labels = new DenseMatrix(a.rows(), 2, b);
    int row = 0;
    for (int[] range : new int[][] {{0, 13}, {13, 13}, {13, 40}}) {
      RowSlice slice = sent(RowSlice.shared(a, labels, range[0], range[1]).copy());
      for (SparseRow r : slice) {
        int from = a.rowStart()[row];
        int to = a.rowStart()[row + 1];
        assertThat(r.indices()).isEqualTo(java.util.Arrays.copyOfRange(a.columnIndex(), from, to));
        assertThat(r.values()).isEqualTo(java.util.Arrays.copyOfRange(a.values(), from, to));
        assertThat(r.labels()).containsExactly(row, 40 + row);
        assertThat(r.columns()).isEqualTo(a.columns());
        row++;
      }
      assertThat(row).isEqualTo(range[1]);
    }
  }

  @Test
  void rowsUsedAgainHaveTheSameNumbers() {
    // of 0, 3, 300 and 4 entries: also rows that come back to a length, and too long ones
    int[] length = {3, 0, 300, 3, 4, 0, 300, 3, 4};
    var t = new Triplets();
    for (int i = 0; i < length.length; i++) {
      for (int k = 0; k < length[i]; k++) {
        t.add(i, (7 * i + k) % 400, 1 + i + 0.25 * k);
      }
    }
    CsrMatrix a = t.toCsr(length.length, 400);
    double[] b = new double[2 * a.rows()];
    Arrays.setAll(b, k -> k);
    RowSlice slice = RowSlice.shared(a, new DenseMatrix(a.rows(), 2, b), 0, a.rows());
    Iterator<SparseRow> again = slice.reusedRows();
    var objects = new HashSet<SparseRow>();
    for (SparseRow r : slice) {
      SparseRow s = again.next();
      assertThat(s.indices()).isEqualTo(r.indices());
      assertThat(s.values()).isEqualTo(r.values());
      assertThat(s.labels()).isEqualTo(r.labels());
      assertThat(s.weight()).isEqualTo(1);
      assertThat(s.columns()).isEqualTo(400);
      objects.add(s);
    }
    assertThat(again.hasNext()).isFalse();
    assertThat(objects).hasSize(3 + 2);
  }

  private static RowSlice sent(RowSlice slice) throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(slice);
    }
    try (var in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (RowSlice) in.readObject();
    }
  }
}
