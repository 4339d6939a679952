/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.sparse.CsrMatrix;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.DoubleUnaryOperator;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * MATLAB files written here, element by element as "MAT-File Format" (The MathWorks) describes
 * them: what SciPy does not write, which is both byte orders, and every type in which MATLAB stores
 * the numbers of a matrix of doubles to save space.
 */
class MatlabReaderTest {

  private static final int MATRIX = 14;
  private static final int DOUBLE = 6;
  private static final int SPARSE = 5;
  private static final int INT32 = 5;

  /** A type of numbers: its code and size, and how they are written. */
  private record Type(
      int code, int bytes, BiConsumer<ByteBuffer, Double> put, DoubleUnaryOperator read) {

    Type(int code, int bytes, BiConsumer<ByteBuffer, Double> put) {
      this(code, bytes, put, v -> v);
    }

    /**
     * The least and the largest number, in which a wrong sign or size is seen, and some between.
     */
    double[] numbers() {
      double half = Math.pow(2, 8 * bytes - 1);
      return switch (code) {
        case 1, 3, 5, 12 -> new double[] {-half, half - 1, -1, 0, 1, 100};
        case 2, 4, 6, 13 -> new double[] {2 * half - 1, half, half - 1, 0, 1, 100};
        default -> new double[] {-1.5, 0.1, 3, 0, Float.MIN_VALUE, -Float.MAX_VALUE};
      };
    }
  }

  private static final List<Type> TYPES =
      List.of(
          new Type(1, 1, (to, v) -> to.put((byte) v.intValue())),
          new Type(2, 1, (to, v) -> to.put((byte) v.intValue())),
          new Type(3, 2, (to, v) -> to.putShort((short) v.intValue())),
          new Type(4, 2, (to, v) -> to.putShort((short) v.intValue())),
          new Type(5, 4, (to, v) -> to.putInt(v.intValue())),
          new Type(6, 4, (to, v) -> to.putInt((int) v.longValue())),
          new Type(7, 4, (to, v) -> to.putFloat(v.floatValue()), v -> (float) v),
          new Type(9, 8, ByteBuffer::putDouble),
          new Type(12, 8, (to, v) -> to.putLong(v.longValue())),
          // -1L is 2^64 - 1, which as a double is 2^64
          new Type(13, 8, (to, v) -> to.putLong(v < 0x1p63 ? v.longValue() : unsigned(v))));

  private static long unsigned(double v) {
    return v >= 0x1p64 ? -1 : (long) (v - 0x1p63) ^ Long.MIN_VALUE;
  }

  /** A file in one byte order, its matrix compressed or not. */
  private record Form(ByteOrder order, boolean packed, Type type) {

    @Override
    public String toString() {
      return "%s%s, type %d".formatted(order, packed ? ", compressed" : "", type.code());
    }

    private ByteBuffer buffer(int bytes) {
      return ByteBuffer.allocate(bytes).order(order);
    }

    /** An element; of four bytes or less within its tag, as MATLAB writes it. */
    byte[] element(int code, byte[] data) {
      if (data.length > 0 && data.length <= 4) {
        return buffer(8).putInt(data.length << 16 | code).put(data).array();
      }
      int padded = code == MATRIX ? data.length : data.length + 7 & -8;
      return buffer(8 + padded).putInt(code).putInt(data.length).put(data).array();
    }

    byte[] numbers(Type of, double... values) {
      ByteBuffer data = buffer(of.bytes() * values.length);
      for (double v : values) {
        of.put().accept(data, v);
      }
      return element(of.code(), data.array());
    }

    byte[] integers(double... values) {
      return numbers(TYPES.get(4), values);
    }

    byte[] matrix(int kind, int flags, int[] dimensions, byte[]... numbers) {
      var parts = new ArrayList<byte[]>();
      parts.add(element(6, buffer(8).putInt(flags | kind).putInt(0).array()));
      parts.add(integers(Arrays.stream(dimensions).asDoubleStream().toArray()));
      parts.add(element(1, "A".getBytes(StandardCharsets.US_ASCII)));
      parts.addAll(List.of(numbers));
      return element(MATRIX, joined(parts));
    }

    byte[] file(byte[]... elements) throws IOException {
      var parts = new ArrayList<byte[]>();
      String text = "MATLAB 5.0 MAT-file, written by a test";
      parts.add(Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), 124));
      parts.add(buffer(4).putShort((short) 0x0100).putShort((short) ('M' << 8 | 'I')).array());
      for (byte[] one : elements) {
        parts.add(packed ? compressed(one) : one);
      }
      return joined(parts);
    }

    private byte[] compressed(byte[] one) throws IOException {
      var to = new ByteArrayOutputStream();
      try (var deflated = new DeflaterOutputStream(to)) {
        deflated.write(one);
      }
      // not padded to eight bytes, unlike all others
      return joined(List.of(buffer(8).putInt(15).putInt(to.size()).array(), to.toByteArray()));
    }
  }

  private static byte[] joined(List<byte[]> parts) {
    var all = new ByteArrayOutputStream();
    parts.forEach(all::writeBytes);
    return all.toByteArray();
  }

  private static List<Form> forms() {
    var forms = new ArrayList<Form>();
    for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
      for (boolean packed : new boolean[] {false, true}) {
        TYPES.forEach(type -> forms.add(new Form(order, packed, type)));
      }
    }
    return forms;
  }

  private static CsrMatrix read(byte[] file) throws IOException {
    return Matlab.readMatrix(new ByteArrayInputStream(file), "a.mat", null);
  }

  /** 2 x 3, by columns. */
  @ParameterizedTest
  @MethodSource("forms")
  void fullMatricesOfEveryType(Form form) throws IOException {
    double[] v = form.type().numbers();
    byte[] numbers = form.numbers(form.type(), v);
    byte[] file = form.file(form.matrix(DOUBLE, 0, new int[] {2, 3}, numbers));
    var expected = new ArrayList<String>();
    expected.add("2 3 " + Arrays.stream(v).filter(x -> x != 0).count());
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 3; j++) {
        double entry = form.type().read().applyAsDouble(v[2 * j + i]);
        if (entry != 0) {
          expected.add(i + " " + j + " " + entry);
        }
      }
    }
    assertThat(FormatFiles.entries(read(file))).isEqualTo(expected);
  }

  /** 4 x 3 with entries (3, 0), (0, 2), (2, 2): three in columns of 1, 0 and 2. */
  @ParameterizedTest
  @MethodSource("forms")
  void sparseMatricesOfEveryType(Form form) throws IOException {
    double[] v = {form.type().numbers()[0], form.type().numbers()[1], form.type().numbers()[4]};
    byte[] file =
        form.file(
            form.matrix(
                SPARSE,
                0,
                new int[] {4, 3},
                form.integers(3, 0, 2),
                form.integers(0, 1, 1, 3),
                form.numbers(form.type(), v)));
    double[] read = Arrays.stream(v).map(form.type().read()).toArray();
    assertThat(FormatFiles.entries(read(file)))
        .containsExactly("4 3 3", "0 2 " + read[1], "2 2 " + read[2], "3 0 " + read[0]);
  }

  /** One number lies within its tag if it is of four bytes or less. */
  @ParameterizedTest
  @MethodSource("forms")
  void aSingleNumber(Form form) throws IOException {
    double v = form.type().numbers()[0];
    byte[] matrix = form.matrix(DOUBLE, 0, new int[] {1, 1}, form.numbers(form.type(), v));
    assertThat(read(form.file(matrix)).values())
        .containsExactly(form.type().read().applyAsDouble(v));
  }

  @ParameterizedTest
  @MethodSource("forms")
  void whatIsNoMatrixOfRealNumbersIsRefused(Form form) throws IOException {
    byte[] six = form.numbers(form.type(), form.type().numbers());
    byte[] complex = form.file(form.matrix(DOUBLE, 0x800, new int[] {2, 3}, six, six));
    assertThatThrownBy(() -> read(complex))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("complex numbers are not supported");
    byte[] cube = form.file(form.matrix(DOUBLE, 0, new int[] {1, 2, 3}, six));
    assertThatThrownBy(() -> read(cube)).hasMessageContaining("an array of 3 dimensions");
    byte[] longer = form.file(form.matrix(DOUBLE, 0, new int[] {2, 2}, six));
    assertThatThrownBy(() -> read(longer)).hasMessageContaining("bytes for a matrix of 2 x 2");
  }

  /** The entries of a sparse matrix must lie in it: rows 0 to 3 here, and 3 columns. */
  @Test
  void entriesBesideTheMatrixAreRefused() throws IOException {
    var form = new Form(ByteOrder.LITTLE_ENDIAN, false, TYPES.get(INT32 - 1));
    byte[] below =
        form.file(
            form.matrix(
                SPARSE,
                0,
                new int[] {4, 3},
                form.integers(4, 0, 2),
                form.integers(0, 1, 1, 3),
                form.integers(1, 2, 3)));
    assertThatThrownBy(() -> read(below)).hasMessageContaining("is 4, which is not in 0..3");
  }
}
