/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.sparse.CsrMatrix;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MatrixMarketTest {

  private static final String HEAD = "%%MatrixMarket matrix coordinate real general\n";

  @TempDir Path folder;

  static CsrMatrix parse(String text) throws IOException {
    return MatrixMarket.readMatrix(bytes(text), "t.mtx");
  }

  private static DenseMatrix parseDense(String text) throws IOException {
    return MatrixMarket.readDense(bytes(text), "t.mtx");
  }

  private static ByteArrayInputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static double[][] dense(CsrMatrix a) {
    double[][] d = new double[a.rows()][a.columns()];
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        d[i][a.columnIndex()[k]] += a.values()[k];
      }
    }
    return d;
  }

  @Test
  void readsGeneralRealInAnyOrderOfEntries() throws IOException {
    CsrMatrix a = parse(HEAD + "2 3 4\n2 3 -4.5\n1 2 2e1\n2 1 .5\n1 1 +1.\n");
    assertThat(dense(a)).isDeepEqualTo(new double[][] {{1, 20, 0}, {0.5, 0, -4.5}});
    a.pattern().validate();
  }

  @Test
  void readsCommentsBlankLinesTabsCarriageReturnsAndAnyCase() throws IOException {
    CsrMatrix a =
        parse(
            "%%MATRIXMARKET Matrix COORDINATE Real General\r\n% a comment\r\n\r\n%\r\n"
                + "  2\t2  2 \r\n\r\n1 1 3\r\n% in between\r\n\t2 2 4\r\n\r\n%end");
    assertThat(dense(a)).isDeepEqualTo(new double[][] {{3, 0}, {0, 4}});
  }

  @Test
  void readsPatternIntegerSymmetricAndSkew() throws IOException {
    assertThat(dense(parse("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2")))
        .isDeepEqualTo(new double[][] {{0, 1}});
    assertThat(
            dense(
                parse(
                    "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 -7\n")))
        .isDeepEqualTo(new double[][] {{5, -7}, {-7, 0}});
    assertThat(dense(parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n")))
        .isDeepEqualTo(new double[][] {{0, -3}, {3, 0}});
    assertThat(dense(parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 2\n")))
        .isDeepEqualTo(new double[][] {{0, 1}, {1, 0}});
  }

  @Test
  void sumsDuplicatesAndKeepsStoredZeros() throws IOException {
    CsrMatrix a = parse(HEAD + "2 2 5\n1 1 1\n2 2 0\n1 1 2\n1 2 1\n1 1 4\n");
    assertThat(a.nonzeros()).isEqualTo(3);
    assertThat(a.values()).containsExactly(7, 1, 0);
    assertThat(a.columnIndex()).containsExactly(0, 1, 1);
  }

  @Test
  void readsArraysColumnMajorWithSeveralColumns() throws IOException {
    String text = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n%c\n4\n\n5 6\n";
    DenseMatrix b = parseDense(text);
    assertThat(b.rows()).isEqualTo(2);
    assertThat(b.columns()).isEqualTo(3);
    assertThat(b.values()).containsExactly(1, 2, 3, 4, 5, 6);
    assertThat(b.column(1)).containsExactly(3, 4);
    assertThat(dense(parse(text))).isDeepEqualTo(new double[][] {{1, 3, 5}, {2, 4, 6}});
  }

  @Test
  void readsTriangularArraysAndSparseRightHandSides() throws IOException {
    assertThat(parseDense("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n").values())
        .containsExactly(1, 2, 2, 3);
    assertThat(
            parseDense("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n").values())
        .containsExactly(0, 1, 2, -1, 0, 3, -2, -3, 0);
    assertThat(parseDense(HEAD + "3 1 1\n2 1 8\n").values()).containsExactly(0, 8, 0);
  }

  @Test
  void readsEmptyShapes() throws IOException {
    assertThat(parse("%%MatrixMarket matrix array real general\n3 0\n").rows()).isEqualTo(3);
    assertThat(parse(HEAD + "0 4 0\n").columns()).isEqualTo(4);
    assertThat(parse(HEAD + "3 2 0").nonzeros()).isZero();
  }

  @Test
  void readsGzipWhateverTheName() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write((HEAD + "1 1 1\n1 1 42\n").getBytes(StandardCharsets.US_ASCII));
    }
    Path file = Files.write(folder.resolve("plain.mtx"), packed.toByteArray());
    assertThat(MatrixMarket.readMatrix(file).values()).containsExactly(42);
    Path cut =
        Files.write(
            folder.resolve("cut.mtx.gz"), Arrays.copyOf(packed.toByteArray(), packed.size() - 12));
    assertThatThrownBy(() -> MatrixMarket.readMatrix(cut))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("cut.mtx.gz:")
        .hasMessageContaining("cut off");
    Path damaged = Files.write(folder.resolve("bad.gz"), new byte[] {0x1f, (byte) 0x8b, 9, 9});
    assertThatThrownBy(() -> MatrixMarket.readMatrix(damaged))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("gzip");
  }

  @Test
  void missingFileIsItsOwnError() {
    assertThatThrownBy(() -> MatrixMarket.readMatrix(folder.resolve("none.mtx")))
        .isInstanceOf(NoSuchFileException.class);
  }

  /** The text after the banner's five words; line and message of the error. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                                              | 1 | banner",
        "'1 1 1~1 1 1'                                   | 1 | no Matrix Market banner",
        "'~%%MatrixMarket matrix coordinate real general~1 1 1~1 1 1' | 1 | no Matrix Market banner",
        "'%%MatrixMarket matrix coordinate real'         | 1 | the banner needs",
        "'%%MatrixMarket matrix coordinate real general x~1 1 0' | 1 | words after the banner",
        "'%%MatrixMarket junk coordinate real general'   | 1 | object 'junk'",
        "'%%MatrixMarket matrix junk real general'       | 1 | format 'junk'",
        "'%%MatrixMarket matrix coordinate junk general' | 1 | field 'junk'",
        "'%%MatrixMarket matrix coordinate real junk'    | 1 | symmetry 'junk'",
        "'%%MatrixMarket matrix coordinate complex general~1 1 1~1 1 1 0' | 1 | complex",
        "'%%MatrixMarket matrix coordinate real hermitian~1 1 0' | 1 | hermitian",
        "'%%MatrixMarket matrix array pattern general~1 1' | 1 | cannot be a pattern",
        "'%%MatrixMarket matrix coordinate real general~%c' | 2 | ends before the line of sizes",
        "'H~2 2'                   | 2 | number of entries is missing",
        "'H~2 x 1'                 | 2 | 'x' is no number of columns",
        "'H~2 2.5 1'               | 2 | '2.5' is no number of columns",
        "'H~-2 2 1'                | 2 | is negative",
        "'H~2 2 -1'                | 2 | is negative",
        "'H~2 2 1 7~1 1 1'         | 2 | words after the sizes",
        "'H~2 2 2~1 1 1'           | 3 | the file ends after 1 of 2 entries",
        "'H~2 2 2~1 1 1~2 2'       | 4 | number is missing",
        "'H~2 2 2~1 1 1~2'         | 4 | column index is missing",
        "'H~2 2 1~1 1 1~%~2 2 1'   | 5 | more than the 1 entries of line 2",
        "'H~2 2 1~0 1 1'           | 3 | row index 0 is not in 1..2",
        "'H~2 2 1~1 3 1'           | 3 | column index 3 is not in 1..2",
        "'H~2 2 1~-1 1 1'          | 3 | row index -1 is not in 1..2",
        "'H~0 2 1~1 1 1'           | 3 | row index 1 in a matrix without any",
        "'H~2 2 1~1 1 abc'         | 3 | 'abc' is no number",
        "'H~2 2 1~1 1 1.2.3'       | 3 | '1.2.3' is no number",
        "'H~2 2 1~1 1 1,5'         | 3 | '1,5' is no number",
        "'H~2 2 1~1 1 --1'         | 3 | '--1' is no number",
        "'H~2 2 1~1 1 .'           | 3 | '.' is no number",
        "'H~2 2 1~1 1 0x10'        | 3 | '0x10' is no number",
        "'H~2 2 1~1.5 1 1'         | 3 | '1.5' is no row index",
        "'H~2 2 1~9999999999999999999999 1 1' | 3 | is no row index",
        "'H~2 2 1~1 1 1 1'         | 3 | words after the entry",
        "'%%MatrixMarket matrix coordinate pattern general~1 1 1~1 1 1' | 3 | words after the entry",
        "'%%MatrixMarket matrix coordinate integer general~1 1 1~1 1 1.5' | 3 | in a file of integers",
        "'%%MatrixMarket matrix coordinate real symmetric~2 3 0' | 2 | cannot be 2 x 3",
        "'%%MatrixMarket matrix coordinate real skew-symmetric~2 2 1~1 1 1' | 3 | no diagonal entry",
        "'%%MatrixMarket matrix array real general~2 1~1' | 3 | the file ends after 1 of 2 entries",
        "'%%MatrixMarket matrix array real general~1 1~1~2' | 4 | more than the 1 entries",
        "'%%MatrixMarket matrix array real general~1 1~x' | 3 | 'x' is no number",
      })
  void refusesMalformedTextWithItsLine(String text, int line, String message) {
    String full = text.replace("H", HEAD.strip()).replace("~", "\n");
    String expanded = text.startsWith("H~") ? full : text.replace("~", "\n");
    assertThatThrownBy(() -> parse(expanded))
        .isInstanceOfSatisfying(
            MatrixFormatException.class,
            e -> {
              assertThat(e.position()).hasValue(line);
              assertThat(e.source()).isEqualTo("t.mtx");
            })
        .hasMessageStartingWith("t.mtx:" + line + ": ")
        .hasMessageContaining(message)
        .hasMessageNotContaining("\n");
  }

  @ParameterizedTest
  @CsvSource({"nan", "NaN", "-NAN", "inf", "-Infinity", "+INF", "1e400", "-1e999999999"})
  void refusesWhatIsNotFinite(String number) {
    assertThatThrownBy(() -> parse(HEAD + "3 4 2\n1 1 1\n3 4 " + number + "\n"))
        .isInstanceOfSatisfying(
            NonFiniteValueException.class,
            e -> {
              assertThat(e.row()).hasValue(2);
              assertThat(e.column()).hasValue(3);
            })
        .hasMessageContaining("t.mtx:4:")
        .hasMessageContaining("row 3, column 4");
    assertThatThrownBy(
            () -> parseDense("%%MatrixMarket matrix array real general\n2 1\n1\n" + number))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("t.mtx:4:");
  }

  @Test
  void refusesSizesThatNothingCanHold() {
    assertThatThrownBy(() -> parse(HEAD + "5000000000 1 0\n"))
        .isInstanceOf(IndexOverflowException.class)
        .hasMessageContaining("t.mtx:2:");
    assertThatThrownBy(
            () -> parseDense("%%MatrixMarket matrix array real general\n100000 100000\n1\n"))
        .isInstanceOf(IndexOverflowException.class);
    assertThatThrownBy(() -> parse(HEAD + "2147483000 2147483000 0\n"))
        .isInstanceOf(InsufficientMemoryException.class);
    // Announced in the header but missing: no memory is allocated for it.
    assertThatThrownBy(() -> parse(HEAD + "9 9 100000000000000\n1 1 1\n"))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("ends after 1 of");
  }

  @Test
  void longLinesAndTokensDoNotUpsetTheBuffer() throws IOException {
    String comment = "%" + "x".repeat(300_000) + "\n";
    StringBuilder text = new StringBuilder(HEAD).append(comment).append("1 50000 50000\n");
    for (int k = 1; k <= 50_000; k++) {
      text.append(k % 1000 == 0 ? comment : "").append("   1   ").append(k).append(" ").append(k);
      text.append(" ".repeat(k % 37)).append('\n');
    }
    CsrMatrix a = parse(text.toString());
    for (int k = 0; k < 50_000; k++) {
      assertThat(a.values()[k]).isEqualTo(k + 1);
    }
    assertThatThrownBy(() -> parse(HEAD + "1 1 1\n1 1 " + "1".repeat(5000) + "x\n"))
        .isInstanceOf(MatrixFormatException.class);
  }

  @Test
  void numbersAreCorrectlyRounded() throws IOException {
    long seed = 42;
    SplittableRandom random = new SplittableRandom(seed);
    int count = 60_000;
    String[] token = new String[count];
    StringBuilder text =
        new StringBuilder("%%MatrixMarket matrix array real general\n" + count + " 1\n");
    for (int k = 0; k < count; k++) {
      token[k] = randomNumber(random, k);
      text.append(token[k]).append('\n');
    }
    double[] read = parseDense(text.toString()).values();
    for (int k = 0; k < count; k++) {
      assertThat(Double.doubleToRawLongBits(read[k]))
          .as("seed %d, token %s", seed, token[k])
          .isEqualTo(Double.doubleToRawLongBits(Double.parseDouble(token[k])));
    }
    assertThat(parseDense("%%MatrixMarket matrix array real general\n2 1\n1.5D2 2d-1").values())
        .containsExactly(150, 0.2);
  }

  private static String randomNumber(SplittableRandom random, int k) {
    double any;
    do {
      any = Double.longBitsToDouble(random.nextLong());
    } while (!Double.isFinite(any));
    long digits = random.nextLong() >>> random.nextInt(1, 64);
    return switch (k % 8) {
      case 0 -> Double.toString(any);
      case 1 -> String.format(java.util.Locale.ROOT, "%.16e", random.nextDouble() - 0.5);
      case 2 -> digits + "e" + random.nextInt(-300, 280);
      case 3 -> digits + "." + random.nextInt(100_000);
      case 4 -> "0.000" + digits + "E-" + random.nextInt(30);
      case 5 -> Long.toString(digits);
      // Half-way cases: the middle between two neighbouring doubles has one bit too many.
      case 6 -> new java.math.BigDecimal((random.nextLong() >>> 10 | 1L << 53) | 1L).toString();
      default -> digits % 1_000_000 + "e" + random.nextInt(-25, 25);
    };
  }

  @Test
  void writesWhatItReads() throws IOException {
    long seed = 7;
    SplittableRandom random = new SplittableRandom(seed);
    CsrMatrix pattern = Gallery.generate("onehot300x40x9");
    double[] values = new double[pattern.nonzeros()];
    for (int k = 0; k < values.length; k++) {
      values[k] = k % 3 == 0 ? random.nextInt(-5, 5) : (random.nextDouble() - 0.5) * 1e-3;
    }
    values[0] = -0.0;
    values[1] = Double.MIN_VALUE;
    values[2] = -Double.MAX_VALUE;
    values[3] = 1e22;
    CsrMatrix a =
        new CsrMatrix(
            pattern.rows(), pattern.columns(), pattern.rowStart(), pattern.columnIndex(), values);
    for (String name : new String[] {"a.mtx", "a.mtx.gz"}) {
      Path file = folder.resolve(name);
      MatrixMarketWriter.writeCoordinate(file, a);
      CsrMatrix back = MatrixMarket.readMatrix(file);
      assertThat(back.columns()).isEqualTo(a.columns());
      assertThat(back.rowStart()).isEqualTo(a.rowStart());
      assertThat(back.columnIndex()).isEqualTo(a.columnIndex());
      assertThat(back.values()).as("seed %d", seed).isEqualTo(a.values());
    }
    DenseMatrix b =
        new DenseMatrix(values.length / 2, 2, Arrays.copyOf(values, values.length & -2));
    MatrixMarketWriter.writeArray(folder.resolve("b.mtx"), b);
    DenseMatrix back = MatrixMarket.readDense(folder.resolve("b.mtx"));
    assertThat(back.columns()).isEqualTo(2);
    assertThat(back.values()).isEqualTo(b.values());
  }

  private static final String VECTOR = "%%MatrixMarket vector ";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "%MatrixMarket matrix coordinate unsigned-integer general\n3 1 2\n1 1 4\n3 1 5\n",
        VECTOR + "coordinate real general\n3 2\n1 4\n3 5\n",
        VECTOR + "coordinate integer\n% length, entries\n3 2\n3 5\n1 4\n",
        VECTOR + "coordinate real\n3 1 2\n1 1 4\n3 1 5\n",
        VECTOR + "array real general\n3\n4\n0\n5\n",
        VECTOR + "array real\n3 1\n4 0 5\n",
        "%matrixmarket MATRIX array real general\n3 1\n.4+1\n0.0-5\n5.0+000\n",
      })
  void olderAndNewerHeadersAreRead(String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    DenseMatrix b = MatrixMarket.readDense(new ByteArrayInputStream(bytes), "t.mtx");
    assertThat(b.columns()).isEqualTo(1);
    assertThat(b.values()).containsExactly(4, 0, 5);
    CsrMatrix a = MatrixMarket.readMatrix(new ByteArrayInputStream(bytes), "t.mtx");
    assertThat(a.rowStart()).containsExactly(0, 1, 1, 2);
  }

  @ParameterizedTest
  @CsvSource({
    "1.0-5, 1e-5",
    "-1.25+3, -1250",
    "1.-308, 1e-308",
    ".5+0, 0.5",
    "1.234567890123456789-100, 1.234567890123456789e-100",
    "4.9-324, 4.9e-324",
  })
  void anExponentMayLackItsLetter(String fortran, double value) throws IOException {
    String text = "%%MatrixMarket matrix array real general\n1 1\n" + fortran + "\n";
    DenseMatrix b =
        MatrixMarket.readDense(
            new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII)), "t.mtx");
    assertThat(b.values()).containsExactly(value);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "symmetric      | 2 1 5~1 1 1~% note~1 2 5 | 6 | entry (1, 2) | (2, 1) | line 3",
        "symmetric      | 1 2 5~2 1 5              | 4 | entry (2, 1) | (1, 2) | line 3",
        "skew-symmetric | 3 1 5~2 3 1~1 3 -5       | 5 | entry (1, 3) | (3, 1) | line 3",
      })
  void bothHalvesOfASymmetricFileAreRefused(
      String symmetry, String entries, int line, String second, String first, String other) {
    String[] lines = entries.split("~");
    long count = Arrays.stream(lines).filter(l -> !l.startsWith("%")).count();
    String text =
        "%%MatrixMarket matrix coordinate real "
            + symmetry
            + "\n3 3 "
            + count
            + "\n"
            + String.join("\n", lines);
    assertThatThrownBy(
            () ->
                MatrixMarket.readMatrix(
                    new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII)), "t.mtx"))
        .isInstanceOfSatisfying(
            MatrixFormatException.class, e -> assertThat(e.position()).hasValue(line))
        .hasMessageStartingWith("t.mtx:" + line + ": " + second)
        .hasMessageContaining(first)
        .hasMessageContaining(other);
  }

  /** An edge list holds each edge once, in either direction; an entry repeated is summed. */
  @Test
  void aSymmetricFileMayUseBothSidesForDifferentEntries() throws IOException {
    String text =
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n2 1 5\n1 3 7\n3 2 1\n2 1 1\n";
    CsrMatrix a =
        MatrixMarket.readMatrix(
            new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII)), "t.mtx");
    assertThat(a.values()).containsExactly(6, 7, 6, 1, 7, 1);
  }

  /** In several passes, as for files larger than the heap. */
  @Test
  void halvesAreComparedPartByPart() throws IOException {
    java.util.Random random = new java.util.Random(43);
    StringBuilder text = new StringBuilder("%%MatrixMarket matrix coordinate pattern symmetric\n");
    text.append("200 200 501\n");
    for (int k = 0; k < 500; k++) {
      int i = 2 + random.nextInt(199);
      int j = 1 + random.nextInt(i - 1);
      boolean up = (i + j) % 2 == 0;
      text.append(up ? j : i).append(' ').append(up ? i : j).append('\n');
      if (k == 250) {
        text.append(up ? i : j).append(' ').append(up ? j : i).append('\n');
      }
    }
    byte[] bytes = text.toString().getBytes(StandardCharsets.US_ASCII);
    for (int parts : new int[] {1, 2, 7, 64}) {
      assertThatThrownBy(
              () ->
                  SymmetricHalves.requireOne(
                      halves -> {
                        TextScanner in = new TextScanner(new ByteArrayInputStream(bytes), "t.mtx");
                        halves.addAll(
                            new CoordinateReader(in, "t.mtx", MatrixMarketHeader.read(in)));
                      },
                      parts,
                      "t.mtx"))
          .as("%d parts", parts)
          .isInstanceOf(MatrixFormatException.class)
          .hasMessageContaining("t.mtx:254: entry (")
          .hasMessageContaining("but line 253 holds");
    }
  }
}
