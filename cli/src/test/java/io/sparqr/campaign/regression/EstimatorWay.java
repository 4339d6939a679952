/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.ml.SparseQRRegressionModel;
import io.sparqr.spark.ml.SparseQRRegressionSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;

/** The estimator of Spark ML on a Dataset. */
final class EstimatorWay implements RegressionWay {

  private static final int PARTITIONS = 2;

  @Override
  public String name() {
    return "ml";
  }

  @Override
  public boolean can(RegressionCase c) {
    return true;
  }

  @Override
  public Found solve(RegressionCase c) {
    try {
      SparseQRRegressionModel model = estimator(c).fit(data(c.sheet()));
      return found(model.summary());
    } catch (Exception e) {
      return Found.failed(e);
    }
  }

  /** The rows of a sheet, in two partitions. */
  static Dataset<Row> data(Sheet sheet) {
    var schema = new StructType();
    for (Sheet.Column c : sheet.columns()) {
      schema = schema.add(c.name(), c.kind().type());
    }
    var rows = new ArrayList<Row>();
    for (int i = 0; i < sheet.rows(); i++) {
      int row = i;
      rows.add(RowFactory.create(sheet.columns().stream().map(c -> c.values()[row]).toArray()));
    }
    return LocalSpark.session().createDataFrame(rows, schema).coalesce(PARTITIONS);
  }

  private static String[] array(List<String> list) {
    return list.toArray(new String[0]);
  }

  private static SparseQRRegression estimator(RegressionCase c) {
    RegressionOptions o = c.options();
    var e = new SparseQRRegression().setFormula(c.formulaText());
    e.setHandleInvalid(o.skip() ? "skip" : "error").setRegParam(o.ridge());
    if (!o.weights().isEmpty()) {
      e.setWeightCol(o.weights());
    }
    if (!o.offset().isEmpty()) {
      e.setOffsetCol(o.offset());
    }
    if (!o.clusters().isEmpty()) {
      e.setClusterCols(array(o.clusters()));
    } else {
      e.setVcov(o.errors());
    }
    if (!o.correction().isEmpty()) {
      e.setClusterCorrection(o.correction());
    }
    if (!o.categorical().isEmpty()) {
      e.setCategoricalCols(array(o.categorical()));
    }
    if (!o.references().isEmpty()) {
      e.setReferenceLevels(array(references(o.references())));
    }
    if (!o.keep().isEmpty()) {
      e.setKeepTerms(array(o.keep()));
    }
    if (!o.drop().isEmpty()) {
      e.setDropTerms(array(o.drop()));
    }
    return e;
  }

  /** As column=level. */
  static List<String> references(Map<String, String> levels) {
    return levels.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
  }

  private static Found found(SparseQRRegressionSummary s) {
    var rows = new ArrayList<Found.Line>();
    for (Row r : s.toDataFrame().collectAsList()) {
      rows.add(
          new Found.Line(r.getString(0), number(r, 1), number(r, 2), number(r, 3), number(r, 4)));
    }
    var scalars = new TreeMap<String, Double>();
    scalars.put("n", (double) s.numInstances());
    scalars.put("rank", (double) s.rank());
    scalars.put("df", (double) s.degreesOfFreedom());
    scalars.put("dft", s.testDegreesOfFreedom());
    scalars.put("r2", s.r2());
    scalars.put("r2adj", s.r2adj());
    scalars.put("r2within", s.r2Within());
    scalars.put("sigma", s.sigma());
    scalars.put("f", s.fStatistic());
    scalars.put("fp", s.fPValue());
    scalars.put("loglik", s.logLikelihood());
    return new Found("", rows, scalars);
  }

  private static double number(Row row, int k) {
    return row.isNullAt(k) ? Double.NaN : row.getDouble(k);
  }
}
