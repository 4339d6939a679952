/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.LabeledMatrix;
import io.sparqr.matrix.LabeledRows;
import io.sparqr.matrix.LibsvmReader;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.file.FileRows.Request;
import io.sparqr.spark.file.InputFile.Split;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;

/**
 * Reads a libsvm file into rows, which stay in their split. Information on all splits together (the
 * number of rows before each, the number of columns, whether indices count from 0) is known after
 * the first pass, which leaves the parsed rows cached; errors are handled as in {@link
 * CoordinateFile}.
 */
final class LibsvmFile {

  private final JavaSparkContext context;
  private final Request request;
  private final InputFile file;

  /** A split's rows, with indices reduced by 1, and its extent, whose lines count from 0. */
  private static final class Part implements Serializable {
    private static final long serialVersionUID = 1;
    private final int split;
    private final int rows;
    private final LabeledRows.Extent extent;
    private final long lines;
    private final boolean malformed;

    /** Null: left out. */
    private final @Nullable RowSlice slice;

    Part(Split split, LabeledRows read, long lines, boolean malformed, boolean withRows) {
      this.split = split.number();
      this.rows = read.rows();
      this.extent = read.extent();
      this.lines = lines;
      this.malformed = malformed;
      RowSlice all = null;
      if (withRows) {
        LabeledMatrix m = read.toMatrix(Math.max(0, read.greatest()), 1);
        all = RowSlice.shared(m.matrix(), new DenseMatrix(rows, 1, m.labels()), 0, rows);
      }
      slice = all;
    }

    private Part(Part from) {
      split = from.split;
      rows = from.rows;
      extent = from.extent;
      lines = from.lines;
      malformed = from.malformed;
      slice = null;
    }

    Part withoutRows() {
      return new Part(this);
    }
  }

  LibsvmFile(JavaSparkContext context, Request request) throws IOException {
    this.context = context;
    this.request = request;
    this.file = new InputFile(context, request.name(), request.path());
  }

  FileRows read() throws IOException {
    int wanted = request.partitions() > 0 ? request.partitions() : context.defaultParallelism();
    List<Split> splits = file.splits(0, wanted);
    Held held = new Held();
    boolean right = false;
    try {
      FileRows rows = read(splits, held);
      right = true;
      return rows;
    } finally {
      if (!right) {
        held.close();
      }
    }
  }

  private FileRows read(List<Split> splits, Held held) throws IOException {
    InputFile theFile = file;
    JavaRDD<Part> parts =
        held.persist(
            file.distribute(context, splits).map(s -> parse(theFile, s)),
            StorageLevel.MEMORY_AND_DISK());
    Part[] found = new Part[splits.size()];
    try (JobScope jobs = new JobScope(context)) {
      jobs.describe("reading " + request.name() + " in " + splits.size() + " splits");
      SparkErrors.unwrap(() -> parts.map(Part::withoutRows).collect())
          .forEach(p -> found[p.split] = p);
    }
    long[] first = check(splits, found);
    LabeledRows.Extent whole = extent(found);
    int base = request.base().of(whole.least());
    int columns = whole.columns(request.base(), request.name());
    long m = first[splits.size()];
    FileRows.requireShape(request, m, columns);
    Labels.@Nullable Given given =
        request.rhs() == null
            ? null
            : new Labels.Given(held.keep(context.broadcast(request.rhs())));
    JavaRDD<RowSlice> slices =
        parts.map(
            p -> {
              RowSlice slice = Objects.requireNonNull(p.slice).counted(columns, 1 - base);
              return given == null ? slice : slice.labeled(given.of(first[p.split], p.rows));
            });
    String note = request.base().note(whole.least());
    return new FileRows(m, columns, splits.size(), slices, held, note);
  }

  /** The extent of the whole file. */
  private static LabeledRows.Extent extent(Part[] found) {
    int least = Integer.MAX_VALUE;
    long zeroLine = -1;
    int greatest = -1;
    long greatestLine = -1;
    long entries = 0;
    long line = 1;
    for (Part p : found) {
      LabeledRows.Extent e = p.extent;
      zeroLine = zeroLine < 0 && e.zeroLine() >= 0 ? line + e.zeroLine() : zeroLine;
      least = Math.min(least, e.least());
      greatestLine = e.greatest() > greatest ? line + e.greatestLine() : greatestLine;
      greatest = Math.max(greatest, e.greatest());
      entries += e.entries();
      line += p.lines;
    }
    return new LabeledRows.Extent(least, zeroLine, greatest, greatestLine, entries);
  }

  private static Part parse(InputFile file, Split split) throws IOException {
    LabeledRows rows = new LabeledRows();
    try (InputStream in = file.open(Math.max(0, split.begin() - 1))) {
      LibsvmReader reader = new LibsvmReader(in, file.name(), split.begin(), split.end(), 0, 0);
      try {
        rows.addAll(reader);
      } catch (SparseQrException e) {
        // Recorded, not thrown, because only the driver knows which error is the file's first.
        return new Part(split, rows, reader.lines(), true, false);
      }
      return new Part(split, rows, reader.lines(), false, true);
    }
  }

  /**
   * Throws the file's first error; otherwise returns the first row of every split, followed by m.
   */
  private long[] check(List<Split> splits, Part[] found) throws IOException {
    long[] first = new long[splits.size() + 1];
    long line = 1;
    for (Split split : splits) {
      Part p = found[split.number()];
      if (p.malformed) {
        fail(split, line, first[p.split]);
      }
      first[p.split + 1] = first[p.split] + p.rows;
      line += p.lines;
    }
    return first;
  }

  private void fail(Split split, long line, long before) throws IOException {
    try (InputStream in = file.open(Math.max(0, split.begin() - 1))) {
      LibsvmReader reader =
          new LibsvmReader(in, request.name(), split.begin(), split.end(), line, before);
      while (reader.next()) {
        // Read until it throws.
      }
    }
    throw new MatrixFormatException(
        request.name() + ": changed while it was read", request.name(), -1);
  }
}
