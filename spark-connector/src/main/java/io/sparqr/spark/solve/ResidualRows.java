/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import static java.util.Objects.requireNonNull;

import io.sparqr.spark.engine.Held;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.exchange.Sent;
import io.sparqr.spark.parts.Gathered;
import io.sparqr.spark.parts.Gathering;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.parts.PassWork;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.RowCollector;
import io.sparqr.spark.rows.RowRhs;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.ResidualScan.Left;
import io.sparqr.spark.solve.ResidualScan.Part;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of residual passes with their right-hand sides: those of a source, or what earlier
 * passes have left of them. A pass over the source leaves {@link RowCopies} if there is room; one
 * with copies takes only the right-hand sides from the source and leaves these, too; the next one
 * needs neither. Every pass must find the same rows as the earlier ones.
 */
final class ResidualRows {

  /** The vectors of a pass may stay in this JVM up to this fraction of its heap, as 1 / share. */
  private static final int NEAR_SHARE = 16;

  private final RowSource source;
  private final int columns;
  private final RowCopies copies;

  /** The fingerprints that the rows must match, but for the first pass over unknown rows. */
  private @Nullable Readings readings;

  /** Whether the right-hand sides must match, too. */
  private boolean labels;

  /** By partition: the right-hand sides of the copies' rows, once they are read. */
  private RowRhs @Nullable [] rhs;

  /**
   * Sums of a pass.
   *
   * @param parts by partition
   * @param left as {@link Gathered#tables}
   */
  record Scanned(List<Part> parts, List<Left> left) {}

  ResidualRows(
      RowSource source,
      int columns,
      RowCopies copies,
      @Nullable Readings readings,
      boolean labels) {
    this.source = source;
    this.columns = columns;
    this.copies = copies;
    this.readings = readings;
    this.labels = labels;
  }

  /** Threads of this JVM for what comes after a pass. */
  int threads() {
    return source.engine().parallelism();
  }

  /** A pass over all rows. */
  Scanned scan(ResidualAt x) {
    try (var local = new Held();
        RowCopies.Making making = near() ? copies.begin() : null) {
      RowCopies.Copy[] there = copies.rows();
      boolean read = there == null || rhs == null && source.labels().isEmpty();
      Gathered<Part, Left> found =
          read
              ? read(sent(x, local), making == null ? null : making.exchange())
              : copied(requireNonNull(there), x, local);
      for (Part part : found.figures()) {
        if (part.change() != null) {
          throw part.change();
        }
      }
      if (read && !labels) {
        readings = new Readings(found.figures().stream().map(Part::fingerprint).toList());
        labels = true;
      }
      List<Left> left = found.tables();
      boolean copied =
          making == null
              ? rhs == null && left.stream().allMatch(l -> l.rhs() != null)
              : making.complete(left.stream().map(Left::copy).toList());
      if (copied) {
        rhs = left.stream().map(Left::rhs).toArray(RowRhs[]::new);
      }
      return new Scanned(found.figures(), left);
    }
  }

  /**
   * Whether the vectors are so few and short that they may all be in this JVM: not many more than
   * tasks run at a time, so that they take little more than those.
   */
  private boolean near() {
    long bytes = 8L * columns * source.partitions();
    return source.partitions() <= 2 * threads()
        && bytes <= Runtime.getRuntime().maxMemory() / NEAR_SHARE;
  }

  private Gathered<Part, Left> read(Sent<ResidualAt> at, @Nullable Exchange into) {
    int n = columns;
    Readings before = readings;
    boolean same = labels;
    return gathered(
        source.parts(),
        (p, in) -> {
          try (RowCollector copy = RowCopies.collector(into, p, before)) {
            var known = new ResidualScan.Known(in, before, same);
            return new ResidualScan(p, n, at.value(), known, copy).run();
          }
        });
  }

  private Gathered<Part, Left> copied(RowCopies.Copy[] there, ResidualAt x, Held local) {
    if (rhs != null) {
      List<RowRhs> b = Arrays.asList(rhs);
      return gathered(
          Parts.here(threads(), b.size(), p -> List.of(b.get(p)).iterator()),
          (p, in) -> ResidualScan.of(p, there[p], in.next(), x));
    }
    Sent<ResidualAt> at = sent(x, local);
    Sent<RowCopies.Copy[]> rows = Sent.to(source.engine(), there, local);
    return gathered(
        source.labels().orElseThrow().stored(local),
        (p, in) -> ResidualScan.relabeled(p, rows.value()[p], in, at.value()));
  }

  private <T> Gathered<Part, Left> gathered(Parts<T> parts, PassWork<T, Part, Left> work) {
    int keys = Math.max(1, Math.min(threads(), source.partitions()));
    long bytes = near() ? Long.MAX_VALUE : 0;
    var how =
        new Gathering<>(
            "residuals",
            "residuals, summed up",
            Part.class,
            Left.Added.INSTANCE,
            new Gathering.Limits(bytes, keys, Long.MAX_VALUE, Long.MAX_VALUE),
            () -> {});
    return how.of(parts, work);
  }

  /**
   * For tasks, which may outlive the run, after which the caller changes x. Arrays are sent, and no
   * object of a class of ours: sessions of Spark Connect that have added the jar have a class
   * loader each, and a broadcast is read by one of them.
   */
  private Sent<ResidualAt> sent(ResidualAt x, Held local) {
    if (x.x() == null) {
      return () -> x;
    }
    Sent<double[][]> vectors = Sent.to(source.engine(), x.copy().vectors(), local);
    ResidualAt.Sums sums = x.sums();
    return () -> ResidualAt.of(vectors.value(), sums);
  }
}
