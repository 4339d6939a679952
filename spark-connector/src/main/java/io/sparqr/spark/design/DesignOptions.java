/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The description of a design. Immutable. */
public final class DesignOptions implements Serializable {

  private static final long serialVersionUID = 1;

  private final String formula;
  private final ArrayList<String> columns;
  private final LinkedHashSet<String> categorical;
  private final LinkedHashMap<String, String> references;
  private final EnumMap<Role, String> roles;
  private final boolean intercept;
  private final HandleInvalid handleInvalid;
  private ArrayList<String> dot = new ArrayList<>();

  /** The role of a column that is not a variable. */
  public enum Role {
    /** The response, where no formula names it. */
    LABEL,
    /** The weights; without one all are 1. */
    WEIGHT,
    /** Subtracted from the response, added to predictions. */
    OFFSET,
    /** Named by errors. */
    ID
  }

  private DesignOptions(Builder b) {
    formula = b.formula;
    columns = new ArrayList<>(b.columns);
    categorical = new LinkedHashSet<>(b.categorical);
    references = new LinkedHashMap<>(b.references);
    roles = new EnumMap<>(Role.class);
    roles.putAll(b.roles);
    intercept = b.intercept;
    handleInvalid = b.handleInvalid;
  }

  /** Nothing set: no column, an intercept, errors for what is invalid. */
  public static Builder builder() {
    return new Builder();
  }

  private DesignOptions(DesignOptions o, HandleInvalid how, boolean id) {
    formula = o.formula;
    columns = o.columns;
    categorical = o.categorical;
    references = o.references;
    roles = new EnumMap<>(o.roles);
    intercept = o.intercept;
    handleInvalid = how;
    dot = o.dot;
    if (!id) {
      roles.remove(Role.ID);
    }
  }

  /** The same, which deals with invalid rows in another way. */
  DesignOptions with(HandleInvalid how) {
    return new DesignOptions(this, how, true);
  }

  /** The same, a dot in the formula made concrete. */
  DesignOptions withDot(List<String> meant) {
    var other = new DesignOptions(this, handleInvalid, true);
    other.dot = new ArrayList<>(meant);
    return other;
  }

  /** The columns that a dot of the formula stands for. */
  List<String> dot() {
    return List.copyOf(dot);
  }

  DesignOptions withoutId() {
    return new DesignOptions(this, handleInvalid, false);
  }

  /** The formula; empty: columns one by one. */
  public String formula() {
    return formula;
  }

  /** The columns of a design without formula, in their order. */
  public List<String> columns() {
    return List.copyOf(columns);
  }

  /** Columns that are factors whatever their type. */
  public Set<String> categorical() {
    return Set.copyOf(categorical);
  }

  /** Reference levels by column; of the other factors the first level. */
  public Map<String, String> references() {
    return Map.copyOf(references);
  }

  /** The column of a role, empty if there is none. */
  public String column(Role role) {
    return roles.getOrDefault(role, "");
  }

  /** Whether there is a column of ones; a formula says so itself. */
  public boolean intercept() {
    return intercept;
  }

  /** The treatment of rows without a value. */
  public HandleInvalid handleInvalid() {
    return handleInvalid;
  }

  /** Collects options. */
  public static final class Builder {
    private String formula = "";
    private List<String> columns = List.of();
    private Set<String> categorical = Set.of();
    private Map<String, String> references = Map.of();
    private final Map<Role, String> roles = new LinkedHashMap<>();
    private boolean intercept = true;
    private HandleInvalid handleInvalid = HandleInvalid.ERROR;

    private Builder() {}

    /** A formula; see {@link Formula#parse}. */
    public Builder formula(String text) {
      formula = Objects.requireNonNull(text, "formula");
      return this;
    }

    /** Columns one by one, in place of a formula. */
    public Builder columns(List<String> names) {
      columns = names;
      return this;
    }

    /** Columns that are factors whatever their type. */
    public Builder categorical(Set<String> names) {
      categorical = names;
      return this;
    }

    /** Reference levels by column. */
    public Builder references(Map<String, String> levels) {
      references = levels;
      return this;
    }

    /** A column's role; an empty name: none has it. */
    public Builder role(Role role, String column) {
      roles.put(role, column);
      return this;
    }

    /** Whether there is a column of ones, where no formula says so; default true. */
    public Builder intercept(boolean on) {
      intercept = on;
      return this;
    }

    /** The treatment of rows without a value; default ERROR. */
    public Builder handleInvalid(HandleInvalid how) {
      handleInvalid = how;
      return this;
    }

    /** The options. */
    public DesignOptions build() {
      return new DesignOptions(this);
    }
  }
}
