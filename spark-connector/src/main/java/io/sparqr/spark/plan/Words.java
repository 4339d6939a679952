/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.FrontMethod;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.model.RankPolicy;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * The words for the values of an option, the same on the command line, in Spark ML's params and in
 * Python. Each option has one table; a test compares these with Python's own tables, which do not
 * need a JVM.
 */
public final class Words<T extends Enum<T>> {

  /** Column orders that can be chosen by name; GIVEN comes with a permutation instead. */
  public static final Words<OrderingMethod> ORDERINGS =
      new Words<>(
          Arrays.stream(OrderingMethod.values()).filter(m -> m != OrderingMethod.GIVEN).toList(),
          OrderingMethod::label);

  /** Backends. */
  public static final Words<BackendChoice> BACKENDS =
      new Words<>(
          List.of(BackendChoice.AUTO, BackendChoice.CPU, BackendChoice.REQUIRE_CUDA),
          c -> c == BackendChoice.REQUIRE_CUDA ? "cuda" : c.name().toLowerCase(Locale.ROOT));

  /** Ways to factor fronts. */
  public static final Words<FrontMethod> METHODS =
      new Words<>(List.of(FrontMethod.values()), m -> m.name().toLowerCase(Locale.ROOT));

  /** Treatments of a rank-deficient problem. */
  public static final Words<RankPolicy> RANK_POLICIES =
      new Words<>(List.of(RankPolicy.values()), p -> p.name().toLowerCase(Locale.ROOT));

  private final Map<String, T> meaning;

  private Words(List<T> values, Function<T, String> word) {
    var map = new LinkedHashMap<String, T>();
    values.forEach(v -> map.put(word.apply(v), v));
    this.meaning = Collections.unmodifiableMap(map);
  }

  /** All words in the table's order. */
  public List<String> all() {
    return List.copyOf(meaning.keySet());
  }

  /** The word for a value. */
  public String word(T value) {
    return meaning.entrySet().stream()
        .filter(e -> e.getValue() == value)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no word for " + value));
  }

  /**
   * The value of a word, in upper or lower case.
   *
   * @throws IllegalArgumentException if it is unknown; the message lists all words
   */
  public T of(String word) {
    T value = meaning.get(word.toLowerCase(Locale.ROOT));
    if (value == null) {
      throw new IllegalArgumentException(
          "'" + word + "' is none of " + String.join(", ", meaning.keySet()));
    }
    return value;
  }
}
