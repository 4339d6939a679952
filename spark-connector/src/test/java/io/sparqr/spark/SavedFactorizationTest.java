/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SavedFactorizationTest {

  private static final long SEED = Long.getLong("test.seed", 20261124L);

  /** With singletons and, under three levels, many files. */
  private static final CsrMatrix A = Problems.withSingletons(Problems.grid(12, SEED), 5, SEED);

  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final double[] C = Problems.rhs(A.rows(), SEED + 2);

  @TempDir Path folder;

  private static GpuSparseQR.Builder builder() {
    return GpuSparseQR.builder()
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  private String saved() throws IOException {
    String name = folder.resolve("f").toString();
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B, C))) {
      f.save(name);
    }
    return name;
  }

  private static QRFactorization load(String name) throws IOException {
    return GpuSparseQR.load(LocalSpark.context(), name);
  }

  private static List<Path> files(String name) throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(name))) {
      return files
          .filter(f -> Files.isRegularFile(f) && !f.getFileName().toString().endsWith(".crc"))
          .sorted()
          .toList();
    }
  }

  @Test
  void givesWhatTheFactorizationGave() throws IOException {
    JavaSparkContext context = LocalSpark.context();
    String name = folder.resolve("a b[1]").toString();
    try (QRFactorization f =
        builder().ridge(0.1).rankTolerance(1e-9).factorize(Problems.rdd(A, 3, B, C))) {
      f.solve();
      f.save(name);
      int tasks = f.summary().analysis().subtreeTasks();
      assertThat(files(name)).hasSize(tasks + 1);
      try (QRFactorization g = load("file:" + name)) {
        assertThat(g.solve().x(0)).isEqualTo(f.solve().x(0));
        assertThat(g.solve().x(1)).isEqualTo(f.solve().x(1));
        assertThat(g.solve().residualNorms()).isEqualTo(f.solve().residualNorms());
        assertThat(g.standardErrors(1)).isEqualTo(f.standardErrors(1));
        assertThat(g.rank()).isEqualTo(f.rank());
        assertThat(g.deadColumns()).isEqualTo(f.deadColumns());
        assertThat(g.analysis().permutation().toArray())
            .isEqualTo(f.analysis().permutation().toArray());
        RFactor r = g.collectR();
        RFactor s = f.collectR();
        assertThat(r.matrix().values()).isEqualTo(s.matrix().values());
        assertThat(r.rhs()).isEqualTo(s.rhs());
        assertThat(g.solveRelabeled(Problems.rdd(A, 4, C)).x())
            .containsExactly(f.solve().x(1), within(Tolerances.REORDERED));
        assertThat(withoutSolve(g.summary())).isEqualTo(withoutSolve(f.summary()));
      }
    }
    assertThat(context.getPersistentRDDs()).isEmpty();
  }

  /** What a report tells of the factorization, not of this session or a solve. */
  private static JsonNode withoutSolve(SolveReport report) throws IOException {
    var json = (ObjectNode) new ObjectMapper().readTree(report.toJson());
    json.remove("run");
    ((ObjectNode) json.get("seconds")).remove(List.of("solve", "total"));
    return json;
  }

  @Test
  void deadColumnsAndOptionsAreKept() throws IOException {
    double[] values = A.values().clone();
    for (int k = 0; k < values.length; k++) {
      values[k] = A.columnIndex()[k] == 7 || A.columnIndex()[k] == 30 ? 0 : values[k];
    }
    var a = new CsrMatrix(A.rows(), A.columns(), A.rowStart(), A.columnIndex(), values);
    String name = folder.resolve("f").toString();
    try (QRFactorization f = builder().refinement(2).factorize(Problems.rdd(a, 3, B))) {
      f.save(name);
      try (QRFactorization g = load(name)) {
        assertThat(g.deadColumns()).contains(7, 30).isEqualTo(f.deadColumns());
        assertThat(g.standardErrors()[7]).isNaN();
        assertThat(g.solve().x()).containsExactly(f.solve().x(), within(Tolerances.REORDERED));
        assertThat(g.solve().report().warnings())
            .containsExactly(
                "neither refined nor checked: the factorization was loaded, without its rows");
      }
    }
  }

  @Test
  void aFolderThatIsThereIsNotOverwrittenUnlessToldTo() throws IOException {
    String name = saved();
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, C))) {
      assertThatThrownBy(() -> f.save(name))
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContaining(name);
      try (QRFactorization g = load(name)) {
        assertThat(g.solve().solutions()).hasNumberOfRows(2);
        // the folder that it is read from is replaced by itself
        g.save(name, true);
        assertThat(g.solve().solutions()).hasNumberOfRows(2);
      }
      f.save(name, true);
      try (QRFactorization g = load(name)) {
        assertThat(g.solve().x()).isEqualTo(f.solve().x());
      }
      Path other = Files.createDirectories(folder.resolve("thesis"));
      Files.writeString(other.resolve("chapter1"), "no factorization");
      assertThatThrownBy(() -> f.save(other.toString(), true))
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContaining("no factorization, not overwritten");
      assertThat(other.resolve("chapter1")).hasContent("no factorization");
    }
    try (Stream<Path> names = Files.list(folder)) {
      assertThat(names.map(p -> p.getFileName().toString()))
          .containsExactlyInAnyOrder("f", "thesis");
    }
  }

  /** Every file, cut short, changed in one bit, and missing: refused, and nothing stays behind. */
  @Test
  void damagedFilesAreRefused() throws IOException {
    String name = saved();
    for (Path file : files(name)) {
      byte[] right = Files.readAllBytes(file);
      // Hadoop's own checksum files would find it first; other file systems have none.
      Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
      Files.write(file, Arrays.copyOf(right, right.length - 9));
      refused(name, file + " cut");
      for (int at : new int[] {2, 10, 20, right.length / 2, right.length - 3}) {
        byte[] wrong = right.clone();
        wrong[at] ^= 4;
        Files.write(file, wrong);
        refused(name, file + " changed at " + at);
      }
      Files.delete(file);
      refused(name, file + " deleted");
      Files.write(file, right);
    }
    load(name).close();
  }

  private void refused(String name, String what) {
    assertThatThrownBy(() -> load(name).close())
        .as(what)
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining(name)
        .hasMessageNotContaining("\n");
    assertThat(LocalSpark.context().getPersistentRDDs()).as(what).isEmpty();
  }

  @Test
  void anotherVersionIsNamed() throws IOException {
    String name = saved();
    Path head = Path.of(name, "_factorization");
    byte[] bytes = Files.readAllBytes(head);
    bytes[11] = 9;
    Files.deleteIfExists(head.resolveSibling("._factorization.crc"));
    Files.write(head, bytes);
    assertThatThrownBy(() -> load(name))
        .isInstanceOf(WireFormatException.class)
        .hasMessage(name + ": saved in version 9 of the format, this is version 7");
  }

  /** Files of one factorization under the head of another, of the same sizes. */
  @Test
  void filesOfTwoFactorizationsAreNotMixed() throws IOException {
    String name = saved();
    Path part = files(name).get(0);
    byte[] bytes = Files.readAllBytes(part);
    bytes[20] ^= 1;
    Files.deleteIfExists(part.resolveSibling("." + part.getFileName() + ".crc"));
    Files.write(part, bytes, StandardOpenOption.TRUNCATE_EXISTING);
    assertThatThrownBy(() -> load(name))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("is of another factorization");
  }

  @Test
  void nothingIsNoFactorization() throws IOException {
    assertThatThrownBy(() -> load(folder.resolve("none").toString()))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("no saved factorization");
    QRFactorization closed = builder().factorize(Problems.rdd(A, 3, B));
    closed.close();
    assertThatThrownBy(() -> closed.save(folder.resolve("f").toString()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> closed.append(Problems.rdd(A, 3, B)))
        .isInstanceOf(IllegalStateException.class);
  }

  /** All columns singletons: no task, no file of R. */
  @Test
  void withoutAnyFront() throws IOException {
    List<SparseRow> rows =
        List.of(
            new SparseRow(new int[] {0}, new double[] {2}, 4),
            new SparseRow(new int[] {1}, new double[] {3}, 9),
            new SparseRow(new int[] {}, new double[] {}, 5));
    String name = folder.resolve("f").toString();
    try (QRFactorization f =
        GpuSparseQR.builder().factorize(LocalSpark.context().parallelize(rows, 2))) {
      f.save(name);
    }
    try (QRFactorization g = load(name);
        QRFactorization h = g.append(LocalSpark.context().parallelize(rows, 1))) {
      assertThat(g.solve().x()).containsExactly(2, 3);
      assertThat(g.solve().residualNorm()).isCloseTo(5, within(Math.ulp(5.0)));
      assertThat(h.solve().x()).containsExactly(new double[] {2, 3}, within(2 * Math.ulp(3.0)));
      assertThat(h.solve().residualNorm()).isCloseTo(Math.sqrt(50), within(4 * Math.ulp(7.0)));
    }
  }
}
