/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.SparseQrException;
import io.sparqr.sparse.CsrMatrix;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files written by SciPy, entry by entry with NumPy's numbers. */
class FormatsTest {

  @ParameterizedTest
  @CsvSource({
    "a.mtx,            a",
    "s.mtx,            s",
    "a.csr.npz,        a",
    "a.csc.npz,        a",
    "a.coo.npz,        a",
    "a.dense.npz,      a",
    "a.npy,            a",
    "a.fortran.npy,    a",
    "a.big.npy,        a",
    "i.int16.npz,      i",
    "i.int8.npy,       i",
    "i.float16.npy,    i",
    "a.mat,            a",
    "a.packed.mat,     a",
    "a.full.mat,       a",
    "a.full.packed.mat,a",
    "i.int.mat,        i",
    "problem.mat,      a",
    "a.hb,             a",
    "a.rb,             a",
    "s.rb,             s",
    "p.rb,             p",
  })
  void aMatrixHasNumPysEntries(String name, String entries) throws IOException {
    CsrMatrix a = FormatFiles.matrix(name, FormatFiles.bytes(name));
    assertThat(FormatFiles.entries(a)).isEqualTo(FormatFiles.expected(entries));
    CsrMatrix unzipped = FormatFiles.matrix(name, zipped(FormatFiles.bytes(name)));
    assertThat(unzipped.values()).isEqualTo(a.values());
  }

  @ParameterizedTest
  @ValueSource(strings = {"b.npy", "problem.mat", "b.dat", "b.csv"})
  void rightHandSidesHaveNumPysNumbers(String name) throws IOException {
    for (byte[] bytes : new byte[][] {FormatFiles.bytes(name), zipped(FormatFiles.bytes(name))}) {
      DenseMatrix b = FormatFiles.dense(name, bytes);
      assertThat(b.rows()).isEqualTo(7);
      assertThat(b.columns()).isEqualTo(2);
      for (int i = 0; i < 7; i++) {
        assertThat(b.values()[i]).isEqualTo(i / 3.0);
        assertThat(b.values()[7 + i]).isEqualTo(-(double) i * i);
      }
    }
  }

  @Test
  void aSparseRightHandSideIsFilledUp() throws IOException {
    DenseMatrix b = FormatFiles.dense("a.csr.npz", FormatFiles.bytes("a.csr.npz"));
    assertThat(FormatFiles.entries(CompressedForm.ofDense(b))).isEqualTo(FormatFiles.expected("a"));
    DenseMatrix same = FormatFiles.dense("a.mat", FormatFiles.bytes("a.mat"));
    assertThat(same.values()).isEqualTo(b.values());
  }

  @Test
  void aVariableIsChosenByName() throws IOException {
    byte[] several = FormatFiles.bytes("several.mat");
    CsrMatrix y = Matlab.readMatrix(new ByteArrayInputStream(several), "several.mat", "Y");
    assertThat(FormatFiles.entries(y)).isEqualTo(FormatFiles.expected("s"));
    byte[] problem = FormatFiles.bytes("problem.mat");
    CsrMatrix a = Matlab.readMatrix(new ByteArrayInputStream(problem), "p.mat", "Problem.A");
    assertThat(FormatFiles.entries(a)).isEqualTo(FormatFiles.expected("a"));
    assertThatThrownBy(
            () -> Matlab.readMatrix(new ByteArrayInputStream(several), "several.mat", "Q"))
        .hasMessage("several.mat: no variable 'Q', there are [X, Y, z]");
    assertThatThrownBy(
            () -> Matlab.readMatrix(new ByteArrayInputStream(several), "several.mat", "z"))
        .hasMessageStartingWith("several.mat(z): complex numbers are not supported");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dia.npz      | format 'dia' is not one of csr, csc, coo",
        "complex.npy  | complex numbers are not supported",
        "objects.npy  | Python objects",
        "several.mat  | several matrices, none of them called A: [X, Y]",
        "old.mat      | no MATLAB file of version 5",
      })
  void whatIsNotReadIsNamed(String name, String message) throws IOException {
    byte[] bytes = FormatFiles.bytes(name);
    assertThatThrownBy(() -> FormatFiles.matrix(name, bytes))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageStartingWith(name)
        .hasMessageContaining(message);
  }

  @Test
  void nanIsRefusedWithItsPlace() throws IOException {
    byte[] npy = FormatFiles.bytes("b.npy");
    ByteBuffer.wrap(npy).order(ByteOrder.LITTLE_ENDIAN).putDouble(npy.length - 8, Double.NaN);
    assertThatThrownBy(() -> FormatFiles.dense("b.npy", npy))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessage("b.npy: the value of row 7, column 2 is not finite");
    byte[] mat = FormatFiles.bytes("a.mat");
    int last = mat.length - 8;
    ByteBuffer.wrap(mat).order(ByteOrder.LITTLE_ENDIAN).putDouble(last, Double.POSITIVE_INFINITY);
    assertThatThrownBy(() -> FormatFiles.matrix("a.mat", mat))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessage("a.mat(A): the value of row 7, column 5 is not finite");
    String rb = new String(FormatFiles.bytes("a.rb"), StandardCharsets.US_ASCII);
    String infinite = rb.replace(" 3.3333333333333331E-01", "               Infinity");
    assertThatThrownBy(
            () -> FormatFiles.matrix("a.rb", infinite.getBytes(StandardCharsets.US_ASCII)))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessage("a.rb:13: value 19 is not finite");
  }

  @Test
  void bothHalvesOfASymmetricBoeingFileAreRefused() {
    String text =
        "t\n 3 1 1 1\nrsa 2 2 4 0\n(8I4) (8I4) (4E8.1)\n   1   3   5\n   1   2   1   2\n"
            + " 1.0E+00 2.0E+00 2.0E+00 1.0E+00\n";
    assertThatThrownBy(() -> FormatFiles.matrix("t.rb", text.getBytes(StandardCharsets.US_ASCII)))
        .hasMessageContaining("(1, 2)")
        .hasMessageContaining("symmetric");
  }

  /** Headers that promise the most there is, with next to no data. */
  @Test
  void sizesThatLieCostNoMemory() throws IOException {
    long before = Runtime.getRuntime().totalMemory();
    byte[] npy = FormatFiles.bytes("a.npy");
    String header = new String(npy, 0, 128, StandardCharsets.ISO_8859_1);
    String huge = header.replace("(7, 5), }          ", "(2000000000, 1), } ");
    assertThat(huge).isNotEqualTo(header).hasSameSizeAs(header);
    byte[] lying = npy.clone();
    System.arraycopy(huge.getBytes(StandardCharsets.ISO_8859_1), 0, lying, 0, 128);
    assertThatThrownBy(() -> FormatFiles.dense("a.npy", lying))
        .hasMessageContaining("the file ends within numbers");

    byte[] mat = FormatFiles.bytes("a.full.mat");
    ByteBuffer b = ByteBuffer.wrap(mat).order(ByteOrder.LITTLE_ENDIAN);
    int at = indexOf(mat, new byte[] {7, 0, 0, 0, 5, 0, 0, 0});
    b.putInt(at, 1 << 14).putInt(at + 4, 1 << 14);
    int tag = mat.length - 7 * 5 * 8 - 8;
    assertThat(b.getInt(tag)).isEqualTo(9);
    b.putInt(tag + 4, -(1 << 31)); // 2^31 bytes, as 2^14 x 2^14 doubles have
    assertThatThrownBy(() -> FormatFiles.matrix("a.full.mat", mat))
        .hasMessageContaining("the file ends within");

    String rb =
        "t\n 3 1 1 1\nrua 2000000000 2000000000 2000000000 0\n(8I9) (8I9) (4E8.1)\n        1\n";
    assertThatThrownBy(() -> FormatFiles.matrix("t.rb", rb.getBytes(StandardCharsets.US_ASCII)))
        .isInstanceOf(SparseQrException.class);
    assertThat(Runtime.getRuntime().totalMemory() - before).isLessThan(256L << 20);
  }

  private static int indexOf(byte[] in, byte[] what) {
    for (int k = 0; k + what.length <= in.length; k++) {
      if (Arrays.equals(in, k, k + what.length, what, 0, what.length)) {
        return k;
      }
    }
    throw new AssertionError("not found");
  }

  private static byte[] zipped(byte[] bytes) throws IOException {
    var to = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(to)) {
      out.write(bytes);
    }
    return to.toByteArray();
  }
}
