/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import org.apache.spark.ml.param.BooleanParam;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;
import org.apache.spark.ml.param.StringArrayParam;

/** The params of {@link SparseQRRegression}, which its model copies. */
public interface SparseQRRegressionParams extends Params {

  /** The holder of these params, for this interface alone. */
  RegressionParams regressionParams();

  /** Weight column; not set or empty: all weights are 1. */
  default Param<String> weightCol() {
    return regressionParams().weightCol;
  }

  /** Column that identifies the row in an error message; not set or empty: none. */
  default Param<String> idCol() {
    return regressionParams().idCol;
  }

  /** Name of the column of feature vectors. */
  String getFeaturesCol();

  /** Name of the label column. */
  String getLabelCol();

  /** Whether a column of ones is appended; default true. */
  default BooleanParam fitIntercept() {
    return regressionParams().fitIntercept;
  }

  /** Ridge parameter in MLlib's scaling, at least 0; default 0. */
  default DoubleParam regParam() {
    return regressionParams().regParam;
  }

  /** Column order: auto (default), colamd, amd, nd, natural, best. */
  default Param<String> ordering() {
    return regressionParams().ordering;
  }

  /** How fronts are factored: auto (default) or householder. */
  default Param<String> method() {
    return regressionParams().method;
  }

  /** Backend: auto (default), cpu, cuda. */
  default Param<String> backend() {
    return regressionParams().backend;
  }

  /**
   * Threshold of dependent columns; not set: the default of {@link io.sparqr.spark.GpuSparseQR}.
   */
  default DoubleParam rankTolerance() {
    return regressionParams().rankTolerance;
  }

  /** Whether fit computes standard errors; default true. */
  default BooleanParam computeStandardErrors() {
    return regressionParams().computeStandardErrors;
  }

  /** R's formula for response and columns; not set or empty: the features column. */
  default Param<String> formula() {
    return regressionParams().formula;
  }

  /** Columns that are factors; not set: only the strings and booleans of a formula. */
  default StringArrayParam categoricalCols() {
    return regressionParams().categoricalCols;
  }

  /** Names of coefficients to keep if columns depend on each other. */
  default StringArrayParam keepTerms() {
    return regressionParams().keepTerms;
  }

  /** Names of coefficients to drop if columns depend on each other. */
  default StringArrayParam dropTerms() {
    return regressionParams().dropTerms;
  }

  /**
   * Whether a fit records the time and place of every task, for the page of its report; default
   * false.
   */
  default BooleanParam profile() {
    return regressionParams().profile;
  }

  /** The assumption behind the standard errors. */
  default Param<String> vcov() {
    return regressionParams().vcov;
  }

  /** Columns of clusters, one or two. */
  default StringArrayParam clusterCols() {
    return regressionParams().clusterCols;
  }

  /** The small-sample correction of clustered errors. */
  default Param<String> clusterCorrection() {
    return regressionParams().clusterCorrection;
  }

  /** Reference levels as {@code column=level}; the other factors use their first level. */
  default StringArrayParam referenceLevels() {
    return regressionParams().referenceLevels;
  }

  /** Column subtracted from the label and added to predictions; not set or empty: none. */
  default Param<String> offsetCol() {
    return regressionParams().offsetCol;
  }

  /** The treatment of rows with missing values: error (default), skip, keep. */
  default Param<String> handleInvalid() {
    return regressionParams().handleInvalid;
  }

  /** Value of {@link #weightCol()}; empty if it is not set. */
  default String getWeightCol() {
    return isDefined(weightCol()) ? getOrDefault(weightCol()) : "";
  }

  /** Value of {@link #idCol()}; empty if it is not set. */
  default String getIdCol() {
    return isDefined(idCol()) ? getOrDefault(idCol()) : "";
  }

  /** Value of {@link #fitIntercept()}. */
  default boolean getFitIntercept() {
    return (Boolean) getOrDefault(fitIntercept());
  }

  /** Value of {@link #regParam()}. */
  default double getRegParam() {
    return (Double) getOrDefault(regParam());
  }

  /** Value of {@link #ordering()}. */
  default String getOrdering() {
    return getOrDefault(ordering());
  }

  /** Value of {@link #method()}. */
  default String getMethod() {
    return getOrDefault(method());
  }

  /** Value of {@link #backend()}. */
  default String getBackend() {
    return getOrDefault(backend());
  }

  /**
   * Value of {@link #rankTolerance()}.
   *
   * @throws java.util.NoSuchElementException if it is not set
   */
  default double getRankTolerance() {
    return (Double) getOrDefault(rankTolerance());
  }

  /** Value of {@link #formula()}; empty if it is not set. */
  default String getFormula() {
    return isDefined(formula()) ? getOrDefault(formula()) : "";
  }

  /** Value of {@link #categoricalCols()}; empty if it is not set. */
  default String[] getCategoricalCols() {
    return isDefined(categoricalCols()) ? getOrDefault(categoricalCols()) : new String[0];
  }

  /** Value of {@link #referenceLevels()}; empty if it is not set. */
  default String[] getReferenceLevels() {
    return isDefined(referenceLevels()) ? getOrDefault(referenceLevels()) : new String[0];
  }

  /** Value of {@link #offsetCol()}; empty if it is not set. */
  default String getOffsetCol() {
    return isDefined(offsetCol()) ? getOrDefault(offsetCol()) : "";
  }

  /** Value of {@link #handleInvalid()}. */
  default String getHandleInvalid() {
    return getOrDefault(handleInvalid());
  }

  /** Value of {@link #keepTerms()}; empty if it is not set. */
  default String[] getKeepTerms() {
    return isDefined(keepTerms()) ? getOrDefault(keepTerms()) : new String[0];
  }

  /** Value of {@link #dropTerms()}; empty if it is not set. */
  default String[] getDropTerms() {
    return isDefined(dropTerms()) ? getOrDefault(dropTerms()) : new String[0];
  }

  /** Value of {@link #vcov()}; cluster if only cluster columns are set. */
  default String getVcov() {
    return isDefined(vcov())
        ? getOrDefault(vcov())
        : getClusterCols().length > 0 ? VcovNames.CLUSTER : VcovNames.IID;
  }

  /** Value of {@link #clusterCols()}; empty if it is not set. */
  default String[] getClusterCols() {
    return isDefined(clusterCols()) ? getOrDefault(clusterCols()) : new String[0];
  }

  /** Value of {@link #clusterCorrection()}. */
  default String getClusterCorrection() {
    return getOrDefault(clusterCorrection());
  }

  /** Value of {@link #profile()}. */
  default boolean getProfile() {
    return (Boolean) getOrDefault(profile());
  }

  /** Value of {@link #computeStandardErrors()}. */
  default boolean getComputeStandardErrors() {
    return (Boolean) getOrDefault(computeStandardErrors());
  }
}
