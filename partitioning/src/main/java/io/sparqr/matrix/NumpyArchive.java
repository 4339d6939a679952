/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.sparse.CsrMatrix;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The arrays of a .npz archive. A sparse matrix has {@code format} (csr, csc, coo), {@code shape},
 * {@code data}, and either {@code indptr} and {@code indices} or {@code row} and {@code col}.
 */
final class NumpyArchive {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private final String source;
  private @Nullable String format;
  private long @Nullable [] shape;
  private double @Nullable [] data;
  private final Map<String, int[]> indices = new HashMap<>();

  /** The dense arrays, and all names for messages. */
  private final List<DenseMatrix> dense = new ArrayList<>();

  private final List<Integer> dimensions = new ArrayList<>();
  private final List<String> names = new ArrayList<>();

  private NumpyArchive(String source) {
    this.source = source;
  }

  static NumpyArchive read(InputStream in, String source) throws IOException {
    NumpyArchive archive = new NumpyArchive(source);
    try {
      ZipInputStream zip = new ZipInputStream(in, StandardCharsets.ISO_8859_1);
      for (ZipEntry e = zip.getNextEntry(); e != null; e = zip.getNextEntry()) {
        if (e.getName().endsWith(".npy")) {
          byte[] name = e.getName().getBytes(StandardCharsets.ISO_8859_1);
          archive.add(zip, NumberInput.printable(Arrays.copyOf(name, name.length - 4)));
        }
      }
    } catch (EOFException | ZipException | IllegalArgumentException e) {
      throw archive.malformed("the archive is damaged: " + e.getMessage());
    }
    return archive;
  }

  private void add(ZipInputStream zip, String name) throws IOException {
    NumberInput in = new NumberInput(zip, source + "(" + name + ")");
    NumpyHeader header = NumpyHeader.read(in);
    in.order(header.order());
    names.add(name);
    switch (name) {
      case "format" -> format = text(in, header);
      case "shape" -> shape = sizes(in, header);
      case "indptr", "indices", "row", "col" ->
          indices.put(name, in.indices(type(in, header), flat(in, header), MOST, name));
      default -> {
        if (name.equals("data") && header.shape().length == 1) {
          data = in.doubles(type(in, header), header.count(), name);
        } else if (header.type() != null && (header.shape().length - 1 & ~1) == 0) {
          dense.add(Numpy.dense(in, header, 1));
          dimensions.add(header.shape().length);
        }
      }
    }
  }

  private static NumberType type(NumberInput in, NumpyHeader header) {
    if (header.type() == null) {
      throw in.malformed("text, not numbers");
    }
    return header.type();
  }

  private static long flat(NumberInput in, NumpyHeader header) {
    if (header.shape().length != 1) {
      throw in.malformed("of " + header.shape().length + " dimensions, not one");
    }
    return header.count();
  }

  private static String text(NumberInput in, NumpyHeader header) throws IOException {
    if (header.type() != null || header.count() != 1 || header.textBytes() > 64) {
      throw in.malformed("no name of a format");
    }
    byte[] bytes = in.bytes(header.textBytes(), "the name of the format");
    return NumberInput.printable(bytes).replace("?", "");
  }

  private static long[] sizes(NumberInput in, NumpyHeader header) throws IOException {
    if (header.count() != 2) {
      throw in.malformed("a matrix has two dimensions, not " + header.count());
    }
    int[] sizes = in.indices(type(in, header), flat(in, header), MOST, "sizes");
    return new long[] {sizes[0], sizes[1]};
  }

  /** Whether it holds a sparse matrix. */
  boolean isSparse() {
    return format != null;
  }

  CsrMatrix sparse() {
    String format = Objects.requireNonNull(this.format, "no sparse matrix");
    if (!format.equals("csr") && !format.equals("csc") && !format.equals("coo")) {
      throw malformed(
          "format '" + format + "' is not one of csr, csc, coo (a.tocsr() makes it one)");
    }
    boolean coordinates = format.equals("coo");
    int[] first = indices.get(coordinates ? "row" : "indptr");
    int[] second = indices.get(coordinates ? "col" : "indices");
    if (shape == null || data == null || first == null || second == null) {
      throw malformed("a sparse matrix in form " + format + " lacks arrays, there are " + names);
    }
    var form = new CompressedForm(source, format.equals("csc"), (int) shape[0], (int) shape[1]);
    return coordinates
        ? form.ofTriplets(first, second, data)
        : form.matrix(first, second, data, CompressedForm.Mirror.NONE);
  }

  /**
   * The only dense array.
   *
   * @param least dimensions needed: 1 or 2
   */
  DenseMatrix dense(int least) {
    if (data != null && dense.isEmpty() && least == 1) {
      Numpy.requireFinite(data, data.length, source);
      return new DenseMatrix(data.length, 1, data);
    }
    if (dense.size() != 1 || dimensions.get(0) < least || data != null) {
      throw malformed(
          "neither a sparse matrix of SciPy's save_npz nor one dense array; the arrays are "
              + names);
    }
    return dense.get(0);
  }

  private MatrixFormatException malformed(String what) {
    return new MatrixFormatException(source + ": " + what, source, -1);
  }
}
