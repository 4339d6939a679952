/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.MatrixFormatException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers of two parts of a text together find what one reader of the whole text finds. */
class PartsTest {

  private static ByteArrayInputStream from(String text, long offset) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    return new ByteArrayInputStream(bytes, (int) offset, bytes.length);
  }

  private static CoordinateReader part(
      String text, MatrixMarketHeader h, long begin, long end, long line, long before)
      throws IOException {
    return new CoordinateReader(from(text, begin - 1), "t.mtx", h, begin, end, line, before);
  }

  private static List<String> entries(EntryReader reader) throws IOException {
    List<String> found = new ArrayList<>();
    while (reader.next()) {
      found.add(reader.row() + " " + reader.column() + " " + reader.value());
    }
    return found;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3 4 4\n1 1 1\n\n2 2 -3.5\r\n%xx 1 1\n  3 4 2\n1 1 7",
        "3 4 4\r\n1 1 1\r\n\r\n2 2 -3.5\r\n\t \n3 4 2\r\n1 1 7\r\n%\r\n\r\n",
        "% c\n\n3 4 0",
        "3 4 0\n",
        "3 4 1\n\n\n\n1 2 3\n\n\n"
      })
  void coordinatesCutAnywhere(String body) throws IOException {
    String text = "%%MatrixMarket matrix coordinate real general\n" + body;
    MatrixMarketHeader h = MatrixMarketHeader.read(from(text, 0), "t.mtx");
    int length = text.length();
    CoordinateReader all = part(text, h, h.end(), length, h.nextLine(), 0);
    List<String> expected = entries(all);
    assertThat(expected).hasSize((int) h.entries());
    assertThat(h.nextLine() + all.lines()).isEqualTo(1 + text.chars().filter(c -> c == 10).count());
    for (long cut = h.end(); cut <= length; cut++) {
      CoordinateReader left = part(text, h, h.end(), cut, h.nextLine(), 0);
      List<String> found = entries(left);
      CoordinateReader right =
          part(text, h, cut, length, h.nextLine() + left.lines(), left.taken());
      found.addAll(entries(right));
      assertThat(found).as("cut at %d", cut).isEqualTo(expected);
      assertThat(left.lines() + right.lines()).as("cut at %d", cut).isEqualTo(all.lines());
      assertThat(right.taken()).isEqualTo(h.entries());
    }
  }

  private static ArrayReader arrayPart(
      String text, MatrixMarketHeader h, long begin, long end, long line, long before)
      throws IOException {
    return new ArrayReader(from(text, begin - 1), "t.mtx", h, begin, end, line, before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3 2\n1\n-2.5\r\n\n%x 1\n3 4\n  5 % six\n6\n\n",
        "3 2\r\n1 2 3 4 5 6",
        "1 1\n%\n7\r\n%\r\n\r\n",
        "2 0\n\n"
      })
  void arraysCutAnywhere(String body) throws IOException {
    String text = "%%MatrixMarket matrix array real general\n" + body;
    MatrixMarketHeader h = MatrixMarketHeader.read(from(text, 0), "t.mtx");
    DenseMatrix whole = MatrixMarket.readDense(from(text, 0), "t.mtx");
    List<String> expected = new ArrayList<>();
    for (int k = 0; k < whole.values().length; k++) {
      expected.add(k % whole.rows() + " " + k / whole.rows() + " " + whole.values()[k]);
    }
    int length = text.length();
    for (long cut = h.end(); cut <= length; cut++) {
      ArrayReader left = arrayPart(text, h, h.end(), cut, h.nextLine(), 0);
      List<String> found = entries(left);
      ArrayReader right =
          arrayPart(text, h, cut, length, h.nextLine() + left.lines(), left.taken());
      found.addAll(entries(right));
      assertThat(found).as("cut at %d", cut).isEqualTo(expected);
      assertThat(h.nextLine() + left.lines() + right.lines())
          .isEqualTo(1 + text.chars().filter(c -> c == 10).count());
    }
  }

  @Test
  void errorsBehindACutHaveTheLineOfTheFile() throws IOException {
    String text =
        "%%MatrixMarket matrix coordinate real general\n9 9 3\n1 1 1\n\r\n%\n2 2 2\n3 3 x";
    MatrixMarketHeader h = MatrixMarketHeader.read(from(text, 0), "t.mtx");
    for (long cut = h.end(); cut <= text.lastIndexOf('\n') + 1; cut++) {
      CoordinateReader left = part(text, h, h.end(), cut, h.nextLine(), 0);
      entries(left);
      CoordinateReader right =
          part(text, h, cut, text.length(), h.nextLine() + left.lines(), left.taken());
      assertThatThrownBy(() -> entries(right))
          .as("cut at %d", cut)
          .isInstanceOf(MatrixFormatException.class)
          .hasMessage("t.mtx:7: 'x' is no number");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+1 1:0.5 3:-2 # note\n\n-1.5\n# all comment\n3e0 4:1 2:7 \r\n",
        "1 1:1",
        "\n\n",
        "",
        "7\r\n8 5:1\r\n#\r\n  9 1:2"
      })
  void libsvmCutAnywhere(String text) throws IOException {
    LabeledMatrix expected = Libsvm.read(from(text, 0), "t.svm");
    for (int cut = 0; cut <= text.length(); cut++) {
      LabeledRows rows = new LabeledRows();
      LibsvmReader left = new LibsvmReader(from(text, 0), "t.svm", 0, cut, 1, 0);
      rows.addAll(left);
      LibsvmReader right =
          new LibsvmReader(
              from(text, Math.max(0, cut - 1)),
              "t.svm",
              cut,
              text.length(),
              1 + left.lines(),
              rows.rows());
      rows.addAll(right);
      LabeledMatrix found = rows.toMatrix(Math.max(0, rows.greatest()), 1);
      assertThat(found.labels()).as("cut at %d", cut).isEqualTo(expected.labels());
      assertThat(found.matrix().rowStart()).isEqualTo(expected.matrix().rowStart());
      assertThat(found.matrix().columnIndex()).isEqualTo(expected.matrix().columnIndex());
      assertThat(found.matrix().values()).isEqualTo(expected.matrix().values());
      assertThat(left.lines() + right.lines())
          .isEqualTo(text.chars().filter(c -> c == '\n').count());
    }
  }
}
