/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.design.formula.Formula;
import io.sparqr.spark.design.level.Factor;
import io.sparqr.spark.design.level.LevelChunk;
import io.sparqr.spark.design.level.LevelKind;
import io.sparqr.spark.design.level.Levels;
import io.sparqr.spark.design.level.NumberLevels;
import io.sparqr.spark.internals.TableRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * A design as Parquet: one row of options and variables; the levels of its factors and the
 * combinations of its interactions in rows of up to 65,536. Everything derived from these (columns,
 * codings) is recomputed on loading.
 */
final class DesignFiles {

  private static final int VERSION = 2;
  private static final int CHUNK = 1 << 16;
  private static final String FACTOR = "factor";
  private static final String CELLS = "cells";

  private static final StructType DESIGN =
      new StructType()
          .add("version", "int")
          .add("formula", "string")
          .add("dot", new ArrayType(DataTypes.StringType, false))
          .add("columns", new ArrayType(DataTypes.StringType, false))
          .add("categorical", new ArrayType(DataTypes.StringType, false))
          .add("roles", DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType))
          .add("intercept", "boolean")
          .add("handleInvalid", "string")
          .add("kinds", new ArrayType(DataTypes.StringType, true))
          .add("parts", new ArrayType(new ArrayType(DataTypes.StringType, false), true))
          .add("references", new ArrayType(DataTypes.IntegerType, false))
          .add("missing", new ArrayType(DataTypes.BooleanType, false));

  private static final StructType LEVELS =
      new StructType()
          .add("what", "string")
          .add("index", "int")
          .add("chunk", "int")
          .add("keys", new ArrayType(DataTypes.LongType, false))
          .add("texts", new ArrayType(DataTypes.StringType, false));

  private DesignFiles() {}

  static void write(Coding design, SparkSession spark, String path) {
    spark
        .createDataFrame(List.of(row(design)), DESIGN)
        .coalesce(1)
        .write()
        .parquet(path + "/design");
    spark.createDataFrame(levels(design), LEVELS).coalesce(1).write().parquet(path + "/levels");
  }

  private static Row row(Coding d) {
    DesignOptions o = d.options();
    var roles = new LinkedHashMap<String, String>();
    for (Role role : Role.values()) {
      roles.put(role.name(), o.column(role).orElse(""));
    }
    int n = d.slots().size();
    var kinds = new String[n];
    var parts = new String[n][];
    var references = new Integer[n];
    var missing = new Boolean[n];
    for (int v = 0; v < n; v++) {
      Slot slot = d.slots().get(v);
      kinds[v] = slot.factor() ? slot.levels().name() : null;
      parts[v] = slot.vector() ? slot.entries().toArray(new String[0]) : null;
      references[v] = slot.factor() ? d.factors()[v].reference() : 0;
      missing[v] = slot.factor() && d.factors()[v].missing();
    }
    return RowFactory.create(
        VERSION,
        o.formula().orElse(""),
        o.dot().toArray(new String[0]),
        o.columns().toArray(new String[0]),
        o.categorical().toArray(new String[0]),
        roles,
        o.intercept(),
        o.handleInvalid().name(),
        kinds,
        parts,
        references,
        missing);
  }

  private static List<Row> levels(Coding d) {
    var rows = new ArrayList<Row>();
    for (int v = 0; v < d.factors().length; v++) {
      if (d.factors()[v] != null) {
        add(rows, FACTOR, v, d.factors()[v].levels());
      }
    }
    for (int b = 0; b < d.blocks().length; b++) {
      NumberLevels cells = d.blocks()[b].cells();
      if (cells != null) {
        add(rows, CELLS, b, cells);
      }
    }
    return rows;
  }

  private static void add(List<Row> rows, String what, int index, Levels levels) {
    for (int from = 0, chunk = 0; from < levels.count(); from += CHUNK, chunk++) {
      int to = (int) Math.min(levels.count(), (long) from + CHUNK);
      Long[] keys = null;
      String[] texts = null;
      if (levels instanceof NumberLevels numbers) {
        keys = Arrays.stream(numbers.keys(), from, to).boxed().toArray(Long[]::new);
      } else {
        texts = new String[to - from];
        for (int k = from; k < to; k++) {
          texts[k - from] = levels.name(k);
        }
      }
      rows.add(RowFactory.create(what, index, chunk, keys, texts));
    }
  }

  static Optional<Coding> read(SparkSession spark, String path) {
    Path folder = new Path(path, "design");
    try {
      if (!folder.getFileSystem(TableRows.hadoopSettings(spark)).exists(folder)) {
        return Optional.empty();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Row row = spark.read().schema(DESIGN).parquet(folder.toString()).first();
    if (row.getInt(0) != VERSION) {
      throw new IllegalArgumentException(
          folder + " is of version " + row.getInt(0) + ", this is version " + VERSION);
    }
    return Optional.of(design(row, spark.read().schema(LEVELS).parquet(path + "/levels")));
  }

  private static Coding design(Row row, Dataset<Row> levels) {
    DesignOptions.Builder options =
        DesignOptions.builder()
            .formula(row.getString(1))
            .columns(row.getList(3))
            .categorical(Set.copyOf(row.<String>getList(4)))
            .intercept(row.getBoolean(6))
            .handleInvalid(HandleInvalid.valueOf(row.getString(7)));
    Map<String, String> roles = row.getJavaMap(5);
    roles.forEach((role, column) -> options.role(Role.valueOf(role), column));
    List<Row> chunks = levels.orderBy("what", "index", "chunk").collectAsList();
    List<String> kinds = row.getList(8);
    var slotKinds = new ArrayList<LevelKind>();
    var factors = new Factor[kinds.size()];
    for (int v = 0; v < factors.length; v++) {
      LevelKind kind = kinds.get(v) == null ? null : LevelKind.valueOf(kinds.get(v));
      slotKinds.add(kind);
      if (kind != null) {
        Levels own = chunk(chunks, FACTOR, v, kind).levels(kind);
        factors[v] =
            new Factor(own, row.<Integer>getList(10).get(v), row.<Boolean>getList(11).get(v));
      }
    }
    return new Remade(options.build().withDot(row.getList(2)), row, slotKinds, factors)
        .design(chunks);
  }

  /** Options and factors from which a design is rebuilt. */
  private record Remade(DesignOptions options, Row row, List<LevelKind> kinds, Factor[] factors) {

    Coding design(List<Row> chunks) {
      Formula formula = DesignBuilder.formula(options, options.dot());
      var slots = new ArrayList<Slot>();
      for (int v = 0; v < factors.length; v++) {
        scala.collection.Seq<String> parts = row.<scala.collection.Seq<String>>getSeq(9).apply(v);
        List<String> names =
            parts == null ? null : scala.jdk.javaapi.CollectionConverters.asJava(parts);
        slots.add(
            new Slot(
                formula.variables().get(v),
                kinds.get(v),
                names == null ? null : List.copyOf(names)));
      }
      Block[] blocks = DesignBuilder.blocks(formula, slots, factors);
      for (int b = 0; b < blocks.length; b++) {
        if (blocks[b].sparse()) {
          long[] keys = chunk(chunks, CELLS, b, LevelKind.INTEGER).keys();
          blocks[b] = blocks[b].with(new NumberLevels(LevelKind.INTEGER, keys));
        }
      }
      boolean intercept = formula.intercept() && formula.absorbed().isEmpty();
      return new Coding(options, formula, slots, factors, blocks, intercept);
    }
  }

  private static LevelChunk chunk(List<Row> chunks, String what, int index, LevelKind kind) {
    LevelChunk all =
        kind == LevelKind.TEXT ? LevelChunk.ofTexts(List.of()) : LevelChunk.ofKeys(new long[0]);
    for (Row r : chunks) {
      if (r.getString(0).equals(what) && r.getInt(1) == index) {
        all = all.union(chunk(r, kind));
      }
    }
    return all;
  }

  private static LevelChunk chunk(Row r, LevelKind kind) {
    if (kind == LevelKind.TEXT) {
      return LevelChunk.ofTexts(
          r.<String>getList(4).stream()
              .map(org.apache.spark.unsafe.types.UTF8String::fromString)
              .toList());
    }
    return LevelChunk.ofKeys(r.<Long>getList(3).stream().mapToLong(Long::longValue).toArray());
  }
}
