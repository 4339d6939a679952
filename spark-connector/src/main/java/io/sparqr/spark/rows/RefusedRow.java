/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.attribute.Attribute;
import org.apache.spark.ml.attribute.AttributeGroup;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.functions;

/**
 * Finds the row rejected by a solve again, to describe it with the value of the caller's id column,
 * the content of the row, the name of the feature if there is one, and the path of its file, which
 * is unknown for persisted rows. Takes one pass over the data, and only after a failure.
 */
public final class RefusedRow {

  private static final int FIELDS = 3;

  /** Maximum number of characters shown of a row's features. */
  private static final int LONGEST = 120;

  /** The first bad row of a partition. */
  private record Found(int partition, SparseQrException error) implements Serializable {}

  private RefusedRow() {}

  /**
   * The error with a better description of the place.
   *
   * @param refused the error of a solve; returned unchanged if it does not concern a row, or if no
   *     row is found that is rejected for the same kind of reason
   * @param weight empty: all weights are 1
   * @param id a column, or empty
   */
  public static RuntimeException of(
      SparseQrException refused,
      Dataset<Row> data,
      String features,
      String weight,
      String label,
      String id) {
    boolean aRow =
        refused instanceof NonFiniteValueException
            || refused instanceof MatrixFormatException
            || refused instanceof DimensionMismatchException;
    if (!aRow) {
      return refused;
    }
    Column[] columns = {
      functions.col(features),
      weight.isEmpty() ? functions.lit(1.0) : functions.col(weight).cast("double"),
      functions.col(label).cast("double"),
      id.isEmpty() ? functions.lit(null).cast("string") : functions.col(id).cast("string")
    };
    var context = JavaSparkContext.fromSparkContext(data.sparkSession().sparkContext());
    try {
      List<byte[]> found =
          JobScope.run(
              context,
              "the row that was refused",
              data.select(columns)
                      .javaRDD()
                      .mapPartitionsWithIndex((p, rows) -> first(p, rows, id), false)
                  ::collect);
      List<String> names = names(data, features);
      return found.stream()
          .map(f -> ObjectCodec.decode(f, Found.class))
          .min(Comparator.comparingInt(Found::partition))
          .map(Found::error)
          .filter(e -> e.getClass() == refused.getClass())
          .map(e -> because(named(e, names), refused))
          .orElse(refused);
    } catch (RuntimeException e) {
      refused.addSuppressed(e);
      return refused;
    }
  }

  /** The names of the features from the ML attributes; empty if there are none. */
  private static List<String> names(Dataset<Row> data, String features) {
    var attributes = AttributeGroup.fromStructField(data.schema().apply(features)).attributes();
    var names = new ArrayList<String>();
    if (attributes.isDefined()) {
      for (Attribute a : attributes.get()) {
        names.add(a.name().isDefined() ? a.name().get() : "");
      }
    }
    return names;
  }

  private static SparseQrException named(SparseQrException e, List<String> names) {
    if (!(e instanceof NonFiniteValueException n)) {
      return e;
    }
    int column = n.column().orElse(names.size());
    return column < names.size() && !names.get(column).isEmpty()
        ? new NonFiniteValueException(
            e.getMessage() + " (feature " + names.get(column) + ")", n.row().orElse(-1), column)
        : e;
  }

  private static SparseQrException because(SparseQrException told, SparseQrException refused) {
    told.addSuppressed(refused);
    return told;
  }

  private static Iterator<byte[]> first(int partition, Iterator<Row> rows, String id) {
    var ids = new WithoutId(rows);
    var forms = new RowForms.Reader(partition, ids);
    var reader = new RowReader(partition, -1);
    try {
      while (forms.hasNext()) {
        reader.read(forms.next());
      }
    } catch (SparseQrException e) {
      String place = id.isEmpty() ? "" : " (" + id + " = " + ids.id + ")";
      place += e instanceof NonFiniteValueException ? ids.content() : "";
      return List.of(ObjectCodec.encode(new Found(partition, with(e, place)))).iterator();
    }
    return List.<byte[]>of().iterator();
  }

  private static SparseQrException with(SparseQrException e, String place) {
    String message = e.getMessage() + place;
    if (e instanceof NonFiniteValueException n) {
      return new NonFiniteValueException(message, n.row().orElse(-1), n.column().orElse(-1));
    }
    if (e instanceof MatrixFormatException m) {
      return new MatrixFormatException(message, m.source(), m.position().orElse(-1));
    }
    if (e instanceof DimensionMismatchException d) {
      return new DimensionMismatchException(message, d.what(), d.expected(), d.actual());
    }
    return e;
  }

  /** Rows without their last field, which is kept for the latest row. */
  private static final class WithoutId implements Iterator<Row> {
    private final Iterator<Row> rows;

    @SuppressWarnings("NullAway.Init") // set by next()
    private String id;

    @SuppressWarnings("NullAway.Init") // set by next()
    private Row last;

    WithoutId(Iterator<Row> rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public Row next() {
      Row row = rows.next();
      id = row.getString(FIELDS);
      last = RowFactory.create(row.get(0), row.get(1), row.get(2));
      return last;
    }

    String content() {
      String features = String.valueOf(last.get(0));
      String shown =
          features.length() > LONGEST ? features.substring(0, LONGEST) + "..." : features;
      return " in label = %s, weight = %s, features = %s"
          .formatted(last.get(2), last.get(1), shown);
    }
  }
}
