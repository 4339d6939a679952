/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.formula.Formula;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The description of a design. Immutable. */
public final class DesignOptions implements Serializable {

  private static final long serialVersionUID = 1;

  private final String formula;
  private final ArrayList<String> columns;
  private final LinkedHashSet<String> categorical;
  private final LinkedHashMap<String, String> references;
  private final EnumMap<Role, String> roles;
  private final ArrayList<String> clusters;
  private final boolean intercept;
  private final HandleInvalid handleInvalid;
  private ArrayList<String> dot = new ArrayList<>();

  /** The role of a column that is not a variable. */
  public enum Role {
    /** The response, if no formula names it. */
    LABEL,
    /** The weights; without this column all are 1. */
    WEIGHT,
    /** Subtracted from the response, added to predictions. */
    OFFSET,
    /** Identifies a row in error messages. */
    ID
  }

  private DesignOptions(Builder b) {
    formula = b.formula;
    columns = new ArrayList<>(b.columns);
    categorical = new LinkedHashSet<>(b.categorical);
    references = new LinkedHashMap<>(b.references);
    roles = new EnumMap<>(Role.class);
    roles.putAll(b.roles);
    clusters = new ArrayList<>(b.clusters);
    intercept = b.intercept;
    handleInvalid = b.handleInvalid;
  }

  /** The defaults: no columns, an intercept, errors for invalid rows. */
  public static Builder builder() {
    return new Builder();
  }

  private DesignOptions(DesignOptions o, HandleInvalid how, boolean id) {
    formula = o.formula;
    columns = o.columns;
    categorical = o.categorical;
    references = o.references;
    roles = new EnumMap<>(o.roles);
    clusters = o.clusters;
    intercept = o.intercept;
    handleInvalid = how;
    dot = o.dot;
    if (!id) {
      roles.remove(Role.ID);
    }
  }

  /** A copy with another treatment of invalid rows. */
  DesignOptions with(HandleInvalid how) {
    return new DesignOptions(this, how, true);
  }

  /** A copy with the columns for a dot in the formula. */
  DesignOptions withDot(List<String> meant) {
    var other = new DesignOptions(this, handleInvalid, true);
    other.dot = new ArrayList<>(meant);
    return other;
  }

  /** The columns that a dot in the formula stands for. */
  List<String> dot() {
    return List.copyOf(dot);
  }

  DesignOptions withoutId() {
    return new DesignOptions(this, handleInvalid, false);
  }

  /** The formula, unless the design is a list of columns. */
  public Optional<String> formula() {
    return given(formula);
  }

  /** An empty name stands for none in the builder and in saved designs. */
  private static Optional<String> given(String name) {
    return name.isEmpty() ? Optional.empty() : Optional.of(name);
  }

  /** The columns of a design without a formula, in order. */
  public List<String> columns() {
    return List.copyOf(columns);
  }

  /** Columns treated as factors whatever their type. */
  public Set<String> categorical() {
    return Set.copyOf(categorical);
  }

  /** Reference levels by column; the other factors use their first level. */
  public Map<String, String> references() {
    return Map.copyOf(references);
  }

  /** The column of a role, if there is one. */
  public Optional<String> column(Role role) {
    return given(roles.getOrDefault(role, ""));
  }

  /**
   * The column of the response of a formula that names none.
   *
   * @throws IllegalArgumentException if there is none
   */
  String label() {
    return column(Role.LABEL)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no response: the formula names none, and no column is the label"));
  }

  /** The columns of clusters; a row without a value in one of them lacks a value. */
  public List<String> clusters() {
    return List.copyOf(clusters);
  }

  /** Whether there is a column of ones; if there is a formula, it decides. */
  public boolean intercept() {
    return intercept;
  }

  /** The treatment of rows with missing values. */
  public HandleInvalid handleInvalid() {
    return handleInvalid;
  }

  /** Collects the options of a design. */
  public static final class Builder {
    private String formula = "";
    private List<String> columns = List.of();
    private Set<String> categorical = Set.of();
    private Map<String, String> references = Map.of();
    private final Map<Role, String> roles = new LinkedHashMap<>();
    private List<String> clusters = List.of();
    private boolean intercept = true;
    private HandleInvalid handleInvalid = HandleInvalid.ERROR;

    private Builder() {}

    /** Sets a formula, see {@link Formula#parse}; an empty one is none. */
    public Builder formula(String text) {
      formula = Objects.requireNonNull(text, "formula");
      return this;
    }

    /** Sets a list of columns, in place of a formula. */
    public Builder columns(List<String> names) {
      columns = names;
      return this;
    }

    /** Sets the columns treated as factors whatever their type. */
    public Builder categorical(Set<String> names) {
      categorical = names;
      return this;
    }

    /** Sets the reference levels by column. */
    public Builder references(Map<String, String> levels) {
      references = levels;
      return this;
    }

    /** Sets a column's role; an empty name: no column has it. */
    public Builder role(Role role, String column) {
      roles.put(role, column);
      return this;
    }

    /** Sets the columns of clusters, whose values are handed on beside the rows. */
    public Builder clusters(List<String> names) {
      clusters = names;
      return this;
    }

    /** Sets whether there is a column of ones, if no formula decides; default true. */
    public Builder intercept(boolean on) {
      intercept = on;
      return this;
    }

    /** Sets the treatment of rows with missing values; default ERROR. */
    public Builder handleInvalid(HandleInvalid how) {
      handleInvalid = how;
      return this;
    }

    /** The options collected so far. */
    public DesignOptions build() {
      return new DesignOptions(this);
    }
  }
}
