/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.EntryReader;
import io.sparqr.matrix.MatrixMarketHeader;
import io.sparqr.spark.file.InputFile.Split;
import io.sparqr.spark.wire.EntryCodec;
import io.sparqr.spark.wire.EntryCodec.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * Combines the summaries of a Matrix Market file's splits: either the file's first error, or the
 * number of entries before each split. The driver recreates the error by parsing its split once
 * more, now with a known first line.
 */
final class SplitSummaries {

  /** Opens a new reader of a split. */
  interface Reopened {
    EntryReader read(InputStream in, Split split, long line, long before) throws IOException;
  }

  private final InputFile file;
  private final MatrixMarketHeader header;
  private final Reopened reopened;

  SplitSummaries(InputFile file, MatrixMarketHeader header, Reopened reopened) {
    this.file = file;
    this.header = header;
    this.reopened = reopened;
  }

  /**
   * Entries before each split.
   *
   * @param frames one summary per split, in any order
   * @throws io.sparqr.error.SparseQrException the file's first error
   */
  long[] before(List<Split> splits, List<byte[]> frames) throws IOException {
    Summary[] bySplit = new Summary[splits.size()];
    for (byte[] frame : frames) {
      Summary s = EntryCodec.decodeSummary(frame);
      bySplit[s.split()] = s;
    }
    long[] before = new long[splits.size()];
    long entries = 0;
    long line = header.nextLine();
    for (Split split : splits) {
      Summary s = bySplit[split.number()];
      if (s.malformed() || entries + s.entries() > header.entries()) {
        fail(split, line, entries);
      }
      before[split.number()] = entries;
      entries += s.entries();
      line += s.lines();
    }
    if (entries < header.entries()) {
      throw header.endsEarly(file.name(), line, entries);
    }
    return before;
  }

  private void fail(Split split, long line, long before) throws IOException {
    try (InputStream in = file.open(split.begin() - 1)) {
      EntryReader reader = reopened.read(in, split, line, before);
      while (reader.next()) {
        // Read until it throws.
      }
    }
    throw new MatrixFormatException(file.name() + ": changed while it was read", file.name(), -1);
  }
}
