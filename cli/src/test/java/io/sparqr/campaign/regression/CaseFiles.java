/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * Cases as lines of JSON with their data, options and right answers, for Python's {@code feols}:
 * {@code python/tests/programs/regressions.py}.
 */
final class CaseFiles {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private CaseFiles() {}

  /** Whether {@code feols} has all options of a case. */
  static boolean can(RegressionCase c) {
    return c.options().offset().isEmpty() && c.options().ridge() == 0;
  }

  /** One line. */
  static String line(RegressionCase c) {
    ObjectNode node = MAPPER.createObjectNode();
    RegressionOptions o = c.options();
    node.put("seed", c.seed()).put("case", c.number()).put("formula", c.formulaText());
    node.set("kinds", MAPPER.valueToTree(c.kinds()));
    node.put("weights", o.weights().isEmpty() ? null : o.weights());
    node.put("errors", o.errors()).put("correction", o.correction());
    node.set("clusters", MAPPER.valueToTree(o.clusters()));
    node.set("categorical", MAPPER.valueToTree(o.categorical()));
    node.set("references", MAPPER.valueToTree(o.references()));
    node.set("keep", MAPPER.valueToTree(o.keep()));
    node.set("drop", MAPPER.valueToTree(o.drop()));
    ArrayNode columns = node.putArray("columns");
    for (Sheet.Column column : c.sheet().columns()) {
      ObjectNode one = columns.addObject();
      one.put("name", column.name()).put("kind", column.kind().name());
      ArrayNode values = one.putArray("values");
      for (Object v : column.values()) {
        values.add(MAPPER.valueToTree(v instanceof Double d && d.isNaN() ? "NaN" : v));
      }
    }
    node.set("none", expected(Oracle.of(c, false)));
    node.set("singleton", withoutSingletons(c));
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Null if more than one answer is right: where rows have no weight it is not specified. */
  private static ObjectNode withoutSingletons(RegressionCase c) {
    if (c.kinds().stream().anyMatch(k -> k.contains("zero weights"))) {
      return null;
    }
    try {
      return expected(Oracle.of(c, true));
    } catch (Ambiguous e) {
      return null;
    }
  }

  private static ObjectNode expected(Expected e) {
    ObjectNode node = MAPPER.createObjectNode();
    node.put("error", e.error()).put("ordered", e.ordered());
    node.set("notes", MAPPER.valueToTree(e.notes()));
    ArrayNode rows = node.putArray("coefficients");
    for (Expected.Coefficient c : e.coefficients()) {
      ObjectNode row = rows.addObject().put("name", c.name()).put("defined", c.defined());
      ArrayNode figures = row.putArray("figures");
      for (Figure f : List.of(c.estimate(), c.error(), c.t(), c.p())) {
        figures.add(figure(f));
      }
    }
    ObjectNode scalars = node.putObject("scalars");
    e.scalars().forEach((name, f) -> scalars.set(name, figure(f)));
    return node;
  }

  /** The value, its tolerance, another right value, and whether nothing is right; null: any. */
  private static ArrayNode figure(Figure f) {
    if (f.any()) {
      return null;
    }
    ArrayNode node = MAPPER.createArrayNode();
    for (double x : new double[] {f.value(), f.tolerance(), f.other()}) {
      node.add(Double.isNaN(x) ? null : MAPPER.getNodeFactory().numberNode(x));
    }
    return node.add(f.orNothing());
  }
}
