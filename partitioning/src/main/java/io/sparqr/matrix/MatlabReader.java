/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.MatlabVariable.Kind;
import io.sparqr.sparse.CsrMatrix;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a MATLAB file of version 5: a header of 128 bytes, then for each variable a tag
 * (type, bytes) and its data, perhaps compressed. A matrix is an element whose data are elements:
 * flags, dimensions, name, numbers. Not thread-safe.
 */
final class MatlabReader {

  private static final int MATRIX = 14;
  private static final int COMPRESSED = 15;

  private static final int CLASS_STRUCT = 2;
  private static final int CLASS_SPARSE = 5;
  private static final int CLASS_DOUBLE = 6;
  private static final int CLASS_UINT64 = 15;
  private static final int COMPLEX = 0x800;

  private static final int MOST = Integer.MAX_VALUE - 16;
  private static final int LONGEST_NAME = 1 << 12;

  private final InputStream content;
  private final String source;
  private final @Nullable String wanted;
  private final List<MatlabVariable> found = new ArrayList<>();
  private ByteOrder order = ByteOrder.LITTLE_ENDIAN;

  /** The tag read last; small data follow it within the same eight bytes. */
  private int type;

  private long bytes;
  private int padding;

  /**
   * @param wanted the only variable whose numbers are read, unless all are
   */
  MatlabReader(InputStream content, String source, @Nullable String wanted) {
    this.content = content;
    this.source = source;
    this.wanted = wanted;
  }

  List<MatlabVariable> read() throws IOException {
    NumberInput in = new NumberInput(content, source);
    header(in);
    in.order(order);
    while (!in.done()) {
      tag(in);
      if (type == COMPRESSED) {
        compressed(in, bytes);
      } else if (type == MATRIX) {
        matrix(in, bytes, "", true);
      } else {
        in.skip(bytes + padding, "an element");
      }
    }
    return found;
  }

  private void header(NumberInput in) throws IOException {
    byte[] first = in.bytes(8, "the header");
    if (first[0] == (byte) 0x89 && first[1] == 'H' && first[2] == 'D') {
      throw hdf(in);
    }
    if (first[0] == 0 || first[1] == 0 || first[2] == 0 || first[3] == 0) {
      throw in.malformed("no MATLAB file of version 5 (older ones are not read: save it with -v7)");
    }
    in.bytes(116, "the header");
    byte[] end = in.bytes(4, "the header");
    boolean little = end[2] == 'I' && end[3] == 'M';
    if (!little && !(end[2] == 'M' && end[3] == 'I')) {
      throw in.malformed("no MATLAB file, its mark of the byte order is missing");
    }
    order = little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    int version = little ? end[1] : end[0];
    if (version == 2) {
      throw hdf(in);
    }
    if (version != 1) {
      throw in.malformed("version " + version + " of a MATLAB file is not read");
    }
  }

  private static RuntimeException hdf(NumberInput in) {
    return in.malformed("a MATLAB file of version 7.3 (HDF5) is not read: save it with -v7");
  }

  private void tag(NumberInput in) throws IOException {
    long first = in.unsignedInt("a tag");
    type = (int) (first & 0xffff);
    long small = first >>> 16;
    if (small > 4) {
      throw in.malformed("a small element of " + small + " bytes");
    }
    bytes = small > 0 ? small : in.unsignedInt("a tag");
    padding = (int) (small > 0 ? 4 - small : -bytes & 7);
  }

  /** A part of a stream; closing it leaves the stream open. */
  private static final class Limited extends FilterInputStream {
    private final NumberInput from;
    private long left;

    Limited(NumberInput from, long left) {
      super(InputStream.nullInputStream());
      this.from = from;
      this.left = left;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int at, int length) throws IOException {
      if (left == 0 || length == 0) {
        return length == 0 ? 0 : -1;
      }
      int now = (int) Math.min(left, Math.min(length, 1 << 12));
      byte[] some = from.bytes(now, "compressed data");
      System.arraycopy(some, 0, to, at, now);
      left -= now;
      return now;
    }
  }

  private void compressed(NumberInput in, long size) throws IOException {
    Limited part = new Limited(in, size);
    try (InflaterInputStream inflated = new InflaterInputStream(part)) {
      NumberInput inner = new NumberInput(inflated, source).order(order);
      tag(inner);
      if (type == MATRIX) {
        matrix(inner, bytes, "", true);
      }
    }
    in.skip(part.left, "compressed data");
  }

  /**
   * A matrix, of which only the tag has been read.
   *
   * @param given its name, if it is a field of a structure; empty: its own
   * @param outer whether the fields of a structure are variables, too
   */
  private void matrix(NumberInput in, long size, String given, boolean outer) throws IOException {
    long end = in.offset() + size;
    if (size > 0) {
      subelement(in, 8, "the flags of a matrix");
      int flags = (int) in.unsignedInt("the flags of a matrix");
      in.skip(bytes - 4 + padding, "the flags of a matrix");
      int[] dimensions = dimensions(in);
      String own = text(in, "the name of a matrix");
      String name = given.isEmpty() ? own : given;
      int kind = flags & 0xff;
      if (kind == CLASS_STRUCT && outer && Arrays.stream(dimensions).allMatch(d -> d == 1)) {
        fields(in, name);
      } else if (wanted == null || wanted.equals(name)) {
        found.add(numbers(in, name, kind, (flags & COMPLEX) != 0, dimensions));
      } else {
        found.add(new MatlabVariable.Unusable(name, Kind.OTHER, in.malformed("not read")));
      }
    }
    if (in.offset() > end) {
      throw in.malformed("the elements of a matrix are longer than the matrix");
    }
    in.skip(end - in.offset(), "a matrix");
  }

  private void subelement(NumberInput in, long least, String what) throws IOException {
    tag(in);
    if (bytes < least) {
      throw in.malformed(what + " in " + bytes + " bytes");
    }
  }

  private int[] dimensions(NumberInput in) throws IOException {
    subelement(in, 8, "the dimensions of a matrix");
    if (bytes > 4 * 64) {
      throw in.malformed(bytes / 4 + " dimensions");
    }
    int pad = padding;
    NumberType numbers = numberType(in, "dimensions");
    int[] d = in.indices(numbers, bytes / numbers.bytes(), MOST, "dimensions");
    in.skip(pad, "the dimensions of a matrix");
    return d;
  }

  private String text(NumberInput in, String what) throws IOException {
    tag(in);
    if (bytes > LONGEST_NAME) {
      throw in.malformed(what + " of " + bytes + " bytes");
    }
    String text = NumberInput.printable(in.bytes((int) bytes, what));
    in.skip(padding, what);
    return text;
  }

  private void fields(NumberInput in, String structure) throws IOException {
    subelement(in, 4, "the length of a field's name");
    int length = (int) in.unsignedInt("the length of a field's name");
    in.skip(bytes - 4 + padding, "the length of a field's name");
    if (length < 1 || length > LONGEST_NAME) {
      throw in.malformed("names of fields of " + length + " bytes");
    }
    tag(in);
    if (bytes > (1 << 15)) {
      throw in.malformed("names of fields in " + bytes + " bytes");
    }
    byte[] names = in.bytes((int) bytes, "the names of fields");
    in.skip(padding, "the names of fields");
    for (int k = 0; k + length <= names.length; k += length) {
      String name = NumberInput.printable(Arrays.copyOfRange(names, k, k + length));
      tag(in);
      if (type != MATRIX) {
        throw in.malformed("a field of a structure that is not a matrix");
      }
      matrix(in, bytes, structure + "." + name.replaceAll("\\?.*", ""), false);
    }
  }

  private MatlabVariable numbers(
      NumberInput in, String name, int kind, boolean complex, int[] dimensions) throws IOException {
    String label = source + "(" + name + ")";
    NumberInput told = in.named(label);
    boolean full = kind >= CLASS_DOUBLE && kind <= CLASS_UINT64;
    Kind type = kind == CLASS_SPARSE ? Kind.SPARSE : full ? Kind.FULL : Kind.OTHER;
    try {
      String obstacle = obstacle(type, complex, dimensions);
      if (!obstacle.isEmpty()) {
        return new MatlabVariable.Unusable(name, type, told.malformed(obstacle));
      }
      return full
          ? new MatlabVariable.Full(name, full(told, dimensions))
          : new MatlabVariable.Sparse(name, sparse(told, dimensions, label));
    } catch (NonFiniteValueException e) {
      // Read to its end; an error only if this variable is the one that is used.
      return new MatlabVariable.Unusable(name, type, e);
    } finally {
      in.named(source);
    }
  }

  private static String obstacle(Kind type, boolean complex, int[] dimensions) {
    if (type == Kind.OTHER) {
      return "no matrix of numbers, but text, a cell, a structure or an object";
    }
    if (complex) {
      return "complex numbers are not supported (real ones and integers are)";
    }
    return dimensions.length == 2
        ? ""
        : "an array of " + dimensions.length + " dimensions is not a matrix";
  }

  private DenseMatrix full(NumberInput in, int[] d) throws IOException {
    tag(in);
    NumberType numbers = numberType(in, "numbers");
    long count = (long) d[0] * d[1];
    if (bytes != count * numbers.bytes()) {
      throw in.malformed(bytes + " bytes for a matrix of " + d[0] + " x " + d[1] + " numbers");
    }
    int pad = padding;
    double[] values = in.doubles(numbers, count, "numbers");
    in.skip(pad, "numbers");
    Numpy.requireFinite(values, d[0], in.source());
    return new DenseMatrix(d[0], d[1], values);
  }

  private CsrMatrix sparse(NumberInput in, int[] d, String label) throws IOException {
    int[] index = integers(in, Math.max(0, d[0] - 1L), "rows of entries");
    int[] pointer = integers(in, MOST, "pointers to columns");
    tag(in);
    NumberType numbers = numberType(in, "values");
    int pad = padding;
    double[] values = in.doubles(numbers, bytes / numbers.bytes(), "values");
    in.skip(pad, "values");
    return new CompressedForm(label, true, d[0], d[1])
        .matrix(pointer, index, values, CompressedForm.Mirror.NONE);
  }

  private int[] integers(NumberInput in, long most, String what) throws IOException {
    tag(in);
    NumberType numbers = numberType(in, what);
    int pad = padding;
    int[] read = in.indices(numbers, bytes / numbers.bytes(), most, what);
    in.skip(pad, what);
    return read;
  }

  private NumberType numberType(NumberInput in, String what) {
    NumberType numbers =
        switch (type) {
          case 1 -> NumberType.INT8;
          case 2 -> NumberType.UINT8;
          case 3 -> NumberType.INT16;
          case 4 -> NumberType.UINT16;
          case 5 -> NumberType.INT32;
          case 6 -> NumberType.UINT32;
          case 7 -> NumberType.FLOAT32;
          case 9 -> NumberType.FLOAT64;
          case 12 -> NumberType.INT64;
          case 13 -> NumberType.UINT64;
          default -> throw in.malformed(what + " of the unknown type " + type);
        };
    if (bytes % numbers.bytes() != 0) {
      throw in.malformed(what + " in " + bytes + " bytes");
    }
    return numbers;
  }
}
