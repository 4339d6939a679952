/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextColumnsTest {

  private static DenseMatrix parse(String text) throws IOException {
    byte[] bytes = text.replace('~', '\n').getBytes(StandardCharsets.ISO_8859_1);
    return TextColumns.readDense(new ByteArrayInputStream(bytes), "b.txt");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1 -4~2.5 5e1~3 .6~",
        "1,-4~2.5,5e1~3,.6",
        "1, -4~2.5 ,5e1~ 3 , .6 ~",
        "1;-4~2.5;5d1~3;.6~",
        "1\t-4~2.5\t5.0+1~3\t.6~",
        "first,second~1,-4~~2.5,50~# note~3,0.6\r~",
        "% note~\"y one\" y2~1 -4~2.5 50~3 0.6",
        "\u00ef\u00bb\u00bf1 -4~2.5 50~3 0.6",
      })
  void numbersInColumns(String text) throws IOException {
    DenseMatrix b = parse(text);
    assertThat(b.rows()).isEqualTo(3);
    assertThat(b.values()).containsExactly(1, 2.5, 3, -4, 50, 0.6);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'1~2~x~4'         | 3 | 'x' is no number",
        "'y~1~z'           | 3 | 'z' is no number",
        "'1,2~3~4,5'       | 2 | 1 instead of 2 numbers",
        "'1 2~3 4 5'       | 2 | more than 2 numbers",
        "'y,x~1,2~1,148,4' | 3 | more than 2 numbers",
        "'1,2~3,,4'        | 2 | '' is no number",
        "'1,2~3,'          | 2 | number is missing",
        "'1;2~3,5;4'       | 2 | '3,5' is no number",
        "'1,2~3 4'         | 2 | no ',' after number 1",
      })
  void aMalformedLineIsNamed(String text, int line, String message) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOfSatisfying(
            MatrixFormatException.class, e -> assertThat(e.position()).hasValue(line))
        .hasMessageStartingWith("b.txt:" + line + ": ")
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"nan~1, 1, 1", "1~2~-inf, 3, 1", "'y~1,2~3,NaN', 3, 2", "'1~1e999', 2, 1"})
  void whatIsNotFiniteIsNamed(String text, int line, int column) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageStartingWith("b.txt:" + line + ": the number in column " + column + " is not");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "~~", "# only", "y", "hello~# no"})
  void nothingIsNoRightHandSide(String text) {
    assertThatThrownBy(() -> parse(text)).hasMessage("b.txt: no numbers");
  }
}
