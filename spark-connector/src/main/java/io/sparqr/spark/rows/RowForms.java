/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.engine.SourceFailure;
import io.sparqr.spark.internals.RunningTask;
import io.sparqr.spark.model.SparseRow;
import java.util.Iterator;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.Row;

/** Converts the accepted forms of rows into {@link SparseRow}. */
final class RowForms {

  private RowForms() {}

  /** Converts a partition's elements into rows; an element that is not a row is an error. */
  static final class Reader implements Iterator<SparseRow> {
    private final int partition;
    private final Iterator<?> elements;
    private long position = -1;

    Reader(int partition, Iterator<?> elements) {
      this.partition = partition;
      this.elements = elements;
    }

    @Override
    public boolean hasNext() {
      try {
        return elements.hasNext();
      } catch (Exception e) {
        throw thrown(e, position + 1);
      }
    }

    @Override
    public SparseRow next() {
      position++;
      Object element;
      try {
        element = elements.next();
      } catch (Exception e) {
        throw thrown(e, position);
      }
      return toRow(element, partition, position);
    }

    /** Scala's iterators also throw checked exceptions. */
    private RuntimeException thrown(Exception e, long row) {
      // Spark itself handles lost shuffle output and killed tasks.
      if (e instanceof SparseQrException s) {
        return s;
      }
      if (e instanceof TaskKilledException k) {
        return k;
      }
      if (RunningTask.isLostShuffle(e) || e instanceof InterruptedException) {
        return RowForms.<RuntimeException>sneaky(e);
      }
      return new SourceFailure(InputPlace.of(row, partition), e);
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> E sneaky(Exception e) throws E {
    throw (E) e;
  }

  /** Converts one row. */
  static SparseRow toRow(Object element, int partition, long position) {
    if (element instanceof SparseRow row) {
      return row;
    }
    if (element instanceof org.apache.spark.mllib.regression.LabeledPoint p) {
      return ofVector(p.features(), new double[] {p.label()}, 1, partition, position);
    }
    if (element instanceof org.apache.spark.ml.feature.LabeledPoint p) {
      return ofVector(p.features(), new double[] {p.label()}, 1, partition, position);
    }
    if (element instanceof Row row) {
      var labels = new double[row.size() - 2];
      for (int k = 0; k < labels.length; k++) {
        labels[k] = number(row, k + 2, "label", partition, position);
      }
      return ofVector(
          row.get(0), labels, number(row, 1, "weight", partition, position), partition, position);
    }
    throw bad(
        element == null
            ? "null"
            : "an element of " + element.getClass().getName() + ", no row and no LabeledPoint",
        partition,
        position);
  }

  private static double number(Row row, int k, String what, int partition, long position) {
    if (row.isNullAt(k)) {
      throw bad("a null " + what, partition, position);
    }
    return row.getDouble(k);
  }

  private static SparseRow ofVector(
      Object vector, double[] labels, double weight, int partition, long position) {
    if (vector instanceof org.apache.spark.ml.linalg.SparseVector v) {
      return new SparseRow(v.indices(), v.values(), labels, weight, v.size());
    }
    if (vector instanceof org.apache.spark.mllib.linalg.SparseVector v) {
      return new SparseRow(v.indices(), v.values(), labels, weight, v.size());
    }
    if (vector instanceof org.apache.spark.ml.linalg.DenseVector v) {
      return ofDense(v.values(), labels, weight);
    }
    if (vector instanceof org.apache.spark.mllib.linalg.DenseVector v) {
      return ofDense(v.values(), labels, weight);
    }
    throw bad(
        vector == null ? "null features" : "features of " + vector.getClass().getName(),
        partition,
        position);
  }

  private static SparseRow ofDense(double[] values, double[] labels, double weight) {
    int nz = 0;
    for (double v : values) {
      nz += v != 0 ? 1 : 0;
    }
    var index = new int[nz];
    var value = new double[nz];
    int k = 0;
    for (int j = 0; j < values.length; j++) {
      if (values[j] != 0) {
        index[k] = j;
        value[k++] = values[j];
      }
    }
    return new SparseRow(index, value, labels, weight, values.length);
  }

  private static MatrixFormatException bad(String what, int partition, long position) {
    return new MatrixFormatException(
        InputPlace.of(position, partition) + ": " + what, "partition " + partition, position);
  }
}
