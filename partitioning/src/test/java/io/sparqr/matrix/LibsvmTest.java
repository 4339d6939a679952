/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LibsvmTest {

  private static LabeledMatrix parse(String text) throws IOException {
    return Libsvm.read(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)), "t.svm");
  }

  @Test
  void countsFromOne() throws IOException {
    LabeledMatrix data = parse("+1 1:0.5 3:-2 # note\n\n-1.5\n# all comment\n3e0 4:1 2:7 \r\n");
    assertThat(data.labels()).containsExactly(1, -1.5, 3);
    assertThat(data.matrix().columns()).isEqualTo(4);
    assertThat(data.matrix().rowStart()).containsExactly(0, 2, 2, 4);
    assertThat(data.matrix().columnIndex()).containsExactly(0, 2, 1, 3);
    assertThat(data.matrix().values()).containsExactly(0.5, -2, 7, 1);
  }

  @Test
  void countsFromZeroIfThereIsAZero() throws IOException {
    LabeledMatrix data = parse("1 1:5\n2 0:6 2:7");
    assertThat(data.matrix().columns()).isEqualTo(3);
    assertThat(data.matrix().columnIndex()).containsExactly(1, 0, 2);
  }

  @Test
  void readsNothing() throws IOException {
    assertThat(parse("# only\n").matrix().rows()).isZero();
    assertThat(parse("7\n8\n").matrix().columns()).isZero();
  }

  @Test
  void readsOverQueryNumbersAndAMark() throws IOException {
    LabeledMatrix read = parse("\u00ef\u00bb\u00bf1 qid:3 1:2\n-1 qid:10 2:5\n2 qid:1\n");
    assertThat(read.labels()).containsExactly(1, -1, 2);
    assertThat(read.matrix().values()).containsExactly(2, 5);
    assertThat(read.matrix().columnIndex()).containsExactly(0, 1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'x 1:2'             | 1 | 'x' is no label",
        "'1,2 1:2'           | 1 | is no label",
        "'1 1:2~1 1:2 qid:3' | 2 | 'qid:3' is no index",
        "'1 1:2~1 qid:x 1:2' | 2 | 'x' is no qid",
        "'1 1:2~1 2'         | 2 | index 2 without ':'",
        "'1 1:2~~1 2:'       | 3 | value is missing",
        "'1 1:2~1 2:x'       | 2 | 'x' is no value",
        "'1 -1:2'            | 1 | index -1",
        "'1 5000000000:2'    | 1 | index 5000000000",
        "'1 3:1 1:1 3:2'     | 1 | index 3 comes twice",
        "'1 3:1 3:2'         | 1 | index 3 comes twice",
      })
  void refusesMalformedTextWithItsLine(String text, int line, String message) {
    assertThatThrownBy(() -> parse(text.replace("~", "\n")))
        .isInstanceOfSatisfying(
            MatrixFormatException.class, e -> assertThat(e.position()).hasValue(line))
        .hasMessageStartingWith("t.svm:" + line + ": ")
        .hasMessageContaining(message);
  }

  @Test
  void refusesWhatIsNotFinite() {
    assertThatThrownBy(() -> parse("1 1:1\nnan 1:1"))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessage("t.svm:2: the label is not finite (row 2)");
    assertThatThrownBy(() -> parse("1 1:1\n2 4:inf"))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessage("t.svm:2: the value of index 4 is not finite (row 2)");
  }

  private static LabeledMatrix parse(String text, IndexBase base) throws IOException {
    return Libsvm.read(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)), "t.svm", base);
  }

  /** Without an index 0 nothing in the file shows what its indices count from. */
  @Test
  void theBaseMayBeGiven() throws IOException {
    String text = "1 1:1 2:2\n2 1:3 2:4\n4 1:5 2:7\n";
    LabeledMatrix zero = parse(text, IndexBase.ZERO);
    assertThat(zero.matrix().columns()).isEqualTo(3);
    assertThat(zero.matrix().columnIndex()).containsExactly(1, 2, 1, 2, 1, 2);
    assertThat(zero.note()).isEmpty();
    LabeledMatrix inferred = parse(text, IndexBase.INFERRED);
    assertThat(inferred.matrix().columns()).isEqualTo(2);
    assertThat(inferred.note()).contains("no index is 0").contains("--index-base 0");
    LabeledMatrix one = parse(text, IndexBase.ONE);
    assertThat(one.matrix().columnIndex()).containsExactly(0, 1, 0, 1, 0, 1);
    assertThat(one.note()).isEmpty();
    assertThat(parse("1 0:1\n", IndexBase.INFERRED).note()).isEmpty();
    assertThat(parse("7\n", IndexBase.INFERRED).note()).isEmpty();
    assertThatThrownBy(() -> parse("# no\n1 1:1\n1 0:1\n1 0:2", IndexBase.ONE))
        .hasMessage("t.svm:3: index 0, but they count from 1 (--index-base 1)");
  }

  @Test
  void anIndexBeyondTheMemoryIsNamed() {
    assertThatThrownBy(() -> parse("1 1:1\n2 2147483600:1\n3 1:1\n"))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageStartingWith(
            "t.svm:2: index 2147483600 makes a matrix of 2,147,483,600 columns");
  }
}
