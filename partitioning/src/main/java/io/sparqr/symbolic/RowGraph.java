/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.function.Function;

/**
 * A matrix of which only the graph of A'A is known, for an analysis where the distinct rows are too
 * many: a cover of the graph by cliques, an edge a row {i, j}, and what else has to be known of the
 * rows. All of an analysis but the number of rows that begin at a column follows from the graph, so
 * that for a given order, and without column singletons, its result is the one that the rows
 * themselves lead to. Singletons, which only rows tell, are not looked for: their columns are
 * pivots like others.
 *
 * @param graph n columns; rows whose cliques cover the graph, each column that has an entry in one
 *     of them; multiplicities mean nothing
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
