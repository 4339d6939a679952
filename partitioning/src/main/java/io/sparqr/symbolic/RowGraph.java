/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.function.Function;

/**
 * A matrix known by its graph of A'A alone, for an analysis with too many distinct rows: a cover of
 * the graph by cliques (an edge is a row {i, j}) and a few facts about the rows. Apart from the
 * number of rows that begin at each column, the whole analysis follows from the graph, so that for
 * a given order, and without column singletons, the result is the same as from the rows. Singletons
 * cannot be found without the rows: their columns are pivots like any other.
 *
 * @param graph n columns; rows whose cliques cover the graph, with every nonempty column in at
 *     least one of them; multiplicities are ignored
 * @param fingerprint of the rows
 * @param rows m
 * @param emptyRows rows of A without an entry
 * @param nonzeros entries of A
 * @param leftmost for an order of all columns, size n: rows of A whose first column is at a
 *     position
 */
public record RowGraph(
    SparsityPattern graph,
    SparsityPattern.Fingerprint fingerprint,
    long rows,
    long emptyRows,
    long nonzeros,
    Function<Permutation, long[]> leftmost) {}
