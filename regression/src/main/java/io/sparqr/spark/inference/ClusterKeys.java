/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.util.List;
import java.util.UUID;

/**
 * Cluster keys as texts, which have the same hash in every JVM; different keys have different
 * texts. Equal integers are equal keys whatever their types.
 */
final class ClusterKeys {

  private ClusterKeys() {}

  /**
   * The text of a key.
   *
   * @throws IllegalArgumentException for null, and for an object of an unsupported type
   */
  static String text(Object key) {
    if (key instanceof CharSequence s) {
      return "s" + s.length() + ":" + s;
    }
    if (key instanceof Integer
        || key instanceof Long
        || key instanceof Short
        || key instanceof Byte) {
      return "n" + ((Number) key).longValue();
    }
    if (key instanceof Double || key instanceof Float) {
      double v = ((Number) key).doubleValue();
      return v == Math.rint(v) && Math.abs(v) < 0x1p53 ? "n" + (long) v : "d" + v;
    }
    if (key instanceof Boolean || key instanceof Character || key instanceof UUID) {
      return key.getClass().getSimpleName() + key;
    }
    if (key instanceof Enum<?> e) {
      return "e" + e.name();
    }
    if (key instanceof java.math.BigDecimal d) {
      return "b" + d.stripTrailingZeros();
    }
    if (key instanceof java.util.Date || key instanceof java.time.temporal.Temporal) {
      return "t" + key;
    }
    if (key instanceof List<?> list) {
      var text = new StringBuilder("l").append(list.size());
      for (Object item : list) {
        text.append(',').append(text(item));
      }
      return text.toString();
    }
    throw new IllegalArgumentException(
        key == null
            ? "a cluster key is null: leave the row out, or give it a cluster of its own"
            : "a cluster key of " + key.getClass().getName() + ": give a text or a number");
  }
}
