/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.RowGraph;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Optional;

/**
 * What is known of the rows' patterns: their pattern, or a graph in its place, or only a
 * fingerprint, each with the ridge's rows.
 *
 * @param count number of distinct row patterns, without the ridge; -1 if they were not
 *     distinguished
 * @param whole the pattern; empty if there are too many distinct rows for the driver, if they were
 *     not distinguished, or once it is no longer needed
 * @param graph of A'A, if there are too many distinct rows
 * @param print the pattern's fingerprint, if the patterns were not distinguished
 */
public record RowPatterns(
    long count,
    Optional<SparsityPattern> whole,
    Optional<RowGraph> graph,
    Optional<SparsityPattern.Fingerprint> print) {

  static RowPatterns distinct(long count, SparsityPattern whole) {
    return new RowPatterns(count, Optional.of(whole), Optional.empty(), Optional.empty());
  }

  static RowPatterns tooMany(long count, RowGraph graph) {
    return new RowPatterns(count, Optional.empty(), Optional.of(graph), Optional.empty());
  }

  static RowPatterns notDistinguished(SparsityPattern.Fingerprint print) {
    return new RowPatterns(-1, Optional.empty(), Optional.empty(), Optional.of(print));
  }

  /** A copy without pattern and graph. */
  RowPatterns analyzed() {
    return new RowPatterns(count, Optional.empty(), Optional.empty(), print);
  }

  /** The fingerprint of the pattern, before {@link #analyzed}. */
  public SparsityPattern.Fingerprint fingerprint() {
    return print
        .or(() -> graph.map(RowGraph::fingerprint))
        .orElseGet(() -> whole.orElseThrow().fingerprint());
  }

  /** An analysis of the pattern, or of the graph in its place. */
  public SymbolicAnalysis analyze(SymbolicOptions options) {
    return graph.isPresent()
        ? SymbolicAnalyzer.analyze(graph.get(), options)
        : SymbolicAnalyzer.analyze(whole.orElseThrow(), options);
  }
}
