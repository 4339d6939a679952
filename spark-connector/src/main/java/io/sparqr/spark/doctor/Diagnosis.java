/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.spark.doctor.Finding.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * All findings.
 *
 * @param findings the driver's first
 */
public record Diagnosis(List<Finding> findings) {

  /** Copies the list. */
  public Diagnosis {
    findings = List.copyOf(findings);
  }

  /** The most serious level. */
  public Level worst() {
    Level worst = Level.OK;
    for (Finding f : findings) {
      worst = f.level().compareTo(worst) > 0 ? f.level() : worst;
    }
    return worst;
  }

  /** Keys and values of the JSON form. */
  public Map<String, Object> toMap() {
    var map = new LinkedHashMap<String, Object>();
    map.put("worst", worst().name().toLowerCase(Locale.ROOT));
    var list = new ArrayList<Map<String, Object>>();
    for (Finding f : findings) {
      var one = new LinkedHashMap<String, Object>();
      one.put("level", f.level().name().toLowerCase(Locale.ROOT));
      one.put("check", f.check());
      one.put("where", f.where());
      one.put("message", f.message());
      one.put("remedy", f.remedy());
      list.add(one);
    }
    map.put("findings", list);
    return map;
  }

  /** The JSON form, indented. */
  public String toJson() {
    try {
      return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(toMap());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("findings that are not JSON", e);
    }
  }

  /** A line for each finding, by JVM, and one more for what mends it. */
  public String toText() {
    var text = new StringBuilder();
    String where = "";
    for (Finding f : findings) {
      if (!f.where().equals(where)) {
        where = f.where();
        text.append(where).append('\n');
      }
      text.append(
          String.format(
              Locale.ROOT,
              "  %-8s%-10s%s%n",
              f.level().name().toLowerCase(Locale.ROOT),
              f.check(),
              f.message()));
      if (!f.remedy().isEmpty()) {
        text.append(String.format(Locale.ROOT, "%20s-> %s%n", "", f.remedy()));
      }
    }
    long errors = findings.stream().filter(f -> f.level() == Level.ERROR).count();
    long warnings = findings.stream().filter(f -> f.level() == Level.WARNING).count();
    text.append(String.format(Locale.ROOT, "%,d error(s), %,d warning(s)%n", errors, warnings));
    return text.toString();
  }
}
