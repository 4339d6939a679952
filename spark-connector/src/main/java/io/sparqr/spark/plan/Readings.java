/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.SparseQrException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The fingerprints of the first reading of all partitions, with which every later reading is
 * compared. Immutable.
 */
public final class Readings implements Serializable {

  private static final long serialVersionUID = 1;
  private static final String CHANGED = ": the input changed between its two readings; persist it";

  private final Fingerprint[] of;

  /** The fingerprints of partitions 0, 1, ... */
  public Readings(List<Fingerprint> of) {
    this.of = of.toArray(new Fingerprint[0]);
  }

  /** Number of partitions. */
  public int partitions() {
    return of.length;
  }

  /** The fingerprint of a partition. */
  public Fingerprint of(int partition) {
    return of[partition];
  }

  /** The sum over the first partitions: {@link Fingerprint#plus}. */
  public Fingerprint total(int partitions) {
    Fingerprint sum = Fingerprint.ofNothing();
    for (int p = 0; p < partitions; p++) {
      sum = sum.plus(of[p]);
    }
    return sum;
  }

  /**
   * The error for a later reading that differs; empty if it is the same.
   *
   * @param labels whether right-hand sides must be the same, too
   */
  public Optional<InputChangedException> change(int partition, Fingerprint later, boolean labels) {
    if (partition >= of.length) {
      return Optional.of(
          new InputChangedException(
              "partition " + partition + " is one more than there were" + CHANGED,
              partition,
              0,
              later.rows(),
              0,
              later.nonzeros()));
    }
    return change("partition " + partition, partition, of[partition], later, labels);
  }

  /**
   * Compares with a later reading of the weights only.
   *
   * @param rows number of rows of positive weight in the partition
   * @param weights {@link Fingerprint#weights}
   * @throws InputChangedException if they differ
   */
  public void requireWeights(int partition, long rows, long weights) {
    Fingerprint f = of[partition];
    var later = new Fingerprint(rows, f.nonzeros(), f.entries(), weights, f.labels(), 0);
    change(partition, later, false).ifPresent(Readings::raise);
  }

  /**
   * Compares readings of all rows in any order and partitioning, each a sum by {@link
   * Fingerprint#plus}.
   *
   * @throws InputChangedException if they differ
   */
  public static void requireSame(Fingerprint total, Fingerprint later) {
    change("the input", -1, total, later, true).ifPresent(Readings::raise);
  }

  private static void raise(InputChangedException e) {
    throw e;
  }

  /** The error for a later reading with rows that the first one would have rejected. */
  public InputChangedException unreadable(int partition, SparseQrException why) {
    Fingerprint first = partition < of.length ? of[partition] : Fingerprint.ofNothing();
    return new InputChangedException(
        why.getMessage() + ", not so before" + CHANGED,
        partition,
        first.rows(),
        -1,
        first.nonzeros(),
        -1);
  }

  /** The error for rows from two different readings within the first pass. */
  public static InputChangedException mixed(long rows, long nonzeros) {
    return new InputChangedException(
        "a partition was computed again within the first reading, with other columns" + CHANGED,
        -1,
        rows,
        -1,
        nonzeros,
        -1);
  }

  private static Optional<InputChangedException> change(
      String where, int partition, Fingerprint first, Fingerprint later, boolean labels) {
    String what = difference(first, later, labels);
    return what.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new InputChangedException(
                where + " had " + what + CHANGED,
                partition,
                first.rows(),
                later.rows(),
                first.nonzeros(),
                later.nonzeros()));
  }

  private static String difference(Fingerprint first, Fingerprint later, boolean labels) {
    if (first.rows() != later.rows()) {
      return "%,d rows, then %,d".formatted(first.rows(), later.rows());
    }
    if (first.nonzeros() != later.nonzeros()) {
      return "%,d nonzeros, then %,d".formatted(first.nonzeros(), later.nonzeros());
    }
    var parts = new ArrayList<String>();
    if (first.weights() != later.weights()) {
      // Values and labels are weighted, so a change of weights changes them, too.
      parts.add("weights");
    } else {
      if (first.entries() != later.entries()) {
        parts.add("columns or values");
      }
      if (labels && first.labels() != later.labels()) {
        parts.add("labels");
      }
    }
    boolean sameRows = first.unordered() == later.unordered();
    if (labels && sameRows && !parts.isEmpty()) {
      return "its %,d rows, then the same in another order".formatted(first.rows());
    }
    if (labels && !sameRows && parts.isEmpty()) {
      parts.add("columns, values, weights or labels");
    }
    return parts.isEmpty()
        ? ""
        : "%,d rows, then as many with other %s"
            .formatted(first.rows(), String.join(" and other ", parts));
  }
}
