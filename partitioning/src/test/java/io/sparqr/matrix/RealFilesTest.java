/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampling;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Reads every file of the collection of real problems, where that is at hand. */
class RealFilesTest {

  private static Path data() {
    Path data = Path.of(System.getProperty("sparqr.shared", "none"), "data");
    Assumptions.assumeTrue(Files.isDirectory(data), "no collection of real problems here");
    return data;
  }

  @Test
  void everyFileHasTheIndexedSize() throws IOException {
    Path data = data();
    List<String> lines = Files.readAllLines(data.resolve("INDEX.tsv"));
    List<String[]> files =
        lines.stream()
            .skip(1)
            .map(line -> line.split("\t", -1))
            .filter(f -> f[0].contains(".svm") || f[0].contains(".mtx") && !f[1].isEmpty())
            .toList();
    assertThat(files).hasSizeGreaterThan(150);
    SoftAssertions softly = new SoftAssertions();
    for (String[] field : Sampling.of(files).toList()) {
      boolean matrix = field[0].contains(".mtx");
      CsrMatrix a =
          matrix
              ? MatrixMarket.readMatrix(data.resolve(field[0]))
              : Libsvm.read(data.resolve(field[0])).matrix();
      softly.assertThat(a.rows()).as(field[0]).isEqualTo(Integer.parseInt(field[1]));
      softly.assertThat(a.columns()).as(field[0]).isEqualTo(Integer.parseInt(field[2]));
      if (!field[2].equals("1")) {
        softly.assertThat(a.nonzeros()).as(field[0]).isEqualTo(Integer.parseInt(field[3]));
      }
      a.pattern().validate();
    }
    softly.assertAll();
  }

  @Test
  void everyNonstandardFileIsRefused() throws IOException {
    Path folder = data().resolve("suitesparse").resolve("nonstandard");
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        assertThatThrownBy(() -> MatrixMarket.readMatrix(file))
            .as("%s", file)
            .isInstanceOf(MatrixFormatException.class)
            .hasMessageContaining(file + ":");
      }
    }
  }

  /**
   * The gallery's chessboard complex against the collection's ch5-5-b1: equal but for the order.
   */
  @Test
  void galleryAgreesWithTheCollection() throws IOException {
    CsrMatrix file = MatrixMarket.readMatrix(data().resolve("suitesparse").resolve("ch5-5-b1.mtx"));
    CsrMatrix generated = Gallery.generate("ch5-5-b1");
    assertThat(generated.rows()).isEqualTo(file.rows());
    assertThat(generated.columns()).isEqualTo(file.columns());
    assertThat(columnCounts(generated)).isEqualTo(columnCounts(file));
    assertThat(DenseRank.of(generated)).isEqualTo(DenseRank.of(file));
  }

  private static List<Integer> columnCounts(CsrMatrix a) {
    Integer[] count = new Integer[a.columns()];
    java.util.Arrays.fill(count, 0);
    for (int k = 0; k < a.nonzeros(); k++) {
      count[a.columnIndex()[k]]++;
    }
    java.util.Arrays.sort(count);
    return List.of(count);
  }
}
