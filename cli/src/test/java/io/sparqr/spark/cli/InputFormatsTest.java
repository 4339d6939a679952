/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.luben.zstd.ZstdOutputStream;
import io.sparqr.SampledCases;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.numeric.Tolerances;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/** Files as people have them: other formats, compressed, through pipes. */
class InputFormatsTest {

  private static final String MARKET =
      "%%MatrixMarket matrix coordinate real general\n3 2 5\n1 1 1\n2 1 1\n2 2 1\n3 1 1\n3 2 2\n";
  private static final String LIBSVM = "1 1:1\n3 1:1 2:1\n6 1:1 2:2\n";
  private static final String TABLE = "row,column,value\n0,0,1\n1,0,1\n1,1,1\n2,0,1\n2,1,2\n";
  private static final String BOEING =
      "t\n 4 1 1 2\nrra            3 2 5 0\n(3I2)           (5I2)           (4F5.1)\n"
          + " 1 4 6\n 1 2 3 2 3\n  1.0  1.0  1.0  1.0\n  2.0\n";

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    CliRun.session();
  }

  private Path put(String name, String text) throws IOException {
    return put(name, text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private Path put(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }

  /** b = (1, 3, 6) and A = (1 0; 1 1; 1 2): x = (5/6, 5/2). */
  private CliRun assertSolves(Object matrix, Object rhs, Object... options) throws IOException {
    Path out = folder.resolve("x.mtx");
    List<Object> all = new ArrayList<>(List.of("solve", "--matrix", matrix, "--out", out));
    all.add("--overwrite");
    if (rhs != null) {
      all.addAll(List.of("--rhs", rhs));
    }
    all.addAll(Arrays.asList(options));
    List<String> before = copies();
    CliRun run = CliRun.of(all.toArray());
    assertThat(run.code()).as(run.err()).isZero();
    double[] x = MatrixMarket.readDense(out).values();
    assertThat(x).hasSize(2);
    assertThat(x[0]).isCloseTo(5.0 / 6, within(Tolerances.roundings(16, 1)));
    assertThat(x[1]).isCloseTo(2.5, within(Tolerances.roundings(16, 2.5)));
    assertThat(copies()).isEqualTo(before);
    return run;
  }

  /** Copies of pipes that are left. */
  private static List<String> copies() throws IOException {
    try (var files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files
          .map(f -> f.getFileName().toString())
          .filter(f -> f.startsWith("sparqr-input-"))
          .sorted()
          .toList();
    }
  }

  private static byte[] npy(String shape, double... values) {
    String text = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n";
    ByteBuffer b =
        ByteBuffer.allocate(10 + text.length() + 8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    b.put((byte) 0x93).put("NUMPY".getBytes(StandardCharsets.US_ASCII)).put((byte) 1).put((byte) 0);
    b.putShort((short) text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
    for (double v : values) {
      b.putDouble(v);
    }
    return b.array();
  }

  @Test
  void rightHandSidesInEveryForm() throws IOException {
    Path a = put("a.mtx", MARKET);
    assertSolves(a, put("b.txt", "1\n3\n6\n"));
    assertSolves(a, put("b.csv", "y\n1\n3\n6\n"));
    assertSolves(a, put("b", "% three numbers\n1\n3.0\n6\n"));
    assertSolves(a, put("b.npy", npy("(3,)", 1, 3, 6)));
    assertSolves(a, put("b2.npy", npy("(3, 1)", 1, 3, 6)));
    assertSolves(a, put("b.mm", "%%MatrixMarket vector array real\n3\n1\n3\n6\n"));
    assertSolves(a, put("b3.txt", "1\n3\n6\n"), "--reader", "executors");
    assertSolves(put("a.svm", LIBSVM), put("b4.txt", "1\n3\n6\n"), "--reader", "executors");
    assertSolves(put("a.csv", TABLE), put("b5.txt", "1\n3\n6\n"));
  }

  @Test
  void matricesOfOtherPrograms() throws IOException {
    Path b = put("b.txt", "1\n3\n6\n");
    assertSolves(put("a.npy", npy("(3, 2)", 1, 0, 1, 1, 1, 2)), b);
    assertSolves(put("a.rb", BOEING), b);
    assertSolves(put("a.rra", BOEING), b);
    // Without an ending the content tells the format.
    assertSolves(put("one", npy("(3, 2)", 1, 0, 1, 1, 1, 2)), b);
    assertSolves(put("two", BOEING), b);
    assertSolves(put("three", LIBSVM), null);
    assertSolves(put("four", MARKET.replace("%%", "%")), b);
    CliRun analysis = CliRun.of("analyze", "--matrix", folder.resolve("a.npy"));
    assertThat(analysis.out()).as(analysis.err()).contains("3 x 2");
  }

  private static OutputStream compressor(String kind, OutputStream to) throws IOException {
    return switch (kind) {
      case "gz" -> new GZIPOutputStream(to);
      case "bz2" -> new BZip2CompressorOutputStream(to);
      case "xz" -> new XZOutputStream(to, new LZMA2Options());
      default -> new ZstdOutputStream(to);
    };
  }

  private static byte[] compressed(String kind, byte[] content) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (OutputStream out = compressor(kind, bytes)) {
      out.write(content);
    }
    return bytes.toByteArray();
  }

  private static byte[] compressed(String kind, String text) throws IOException {
    return compressed(kind, text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @SampledCases(oneIn = 4)
  @ParameterizedTest
  @ValueSource(strings = {"gz", "bz2", "xz", "zst"})
  void everyFormatMayBeCompressed(String kind) throws IOException {
    Path b = put("b.txt." + kind, compressed(kind, "1\n3\n6\n"));
    Path a = put("a.mtx." + kind, compressed(kind, MARKET));
    assertSolves(a, b);
    assertSolves(put("a.svm." + kind, compressed(kind, LIBSVM)), null);
    assertSolves(put("a.rb." + kind, compressed(kind, BOEING)), b);
    assertSolves(put("a.csv." + kind, compressed(kind, TABLE)), b);
    byte[] npy = npy("(3, 2)", 1, 0, 1, 1, 1, 2);
    assertSolves(put("a.npy." + kind, compressed(kind, npy)), b);
    // The content counts, not the name.
    assertSolves(put("b.mtx", compressed(kind, MARKET)), b);

    CliRun cut = CliRun.of("solve", "--matrix", a, "--reader", "executors");
    assertThat(cut.code()).isEqualTo(2);
    assertThat(cut.errors().get(0)).contains("cannot be cut into splits");
    byte[] whole = Files.readAllBytes(a);
    put("short.mtx." + kind, Arrays.copyOf(whole, whole.length / 2));
    CliRun damaged = CliRun.of("solve", "--matrix", folder.resolve("short.mtx." + kind));
    assertThat(damaged.code()).as(damaged.err()).isEqualTo(1);
    assertThat(damaged.errors()).hasSize(1);
    assertThat(damaged.errors().get(0)).contains("short.mtx." + kind + ": the ", "is damaged");
  }

  private Path pipe(String name, byte[] content) throws Exception {
    Path pipe = folder.resolve(name);
    Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
    assertThat(made.waitFor()).isZero();
    Thread writer =
        new Thread(
            () -> {
              try (OutputStream out = Files.newOutputStream(pipe)) {
                out.write(content);
              } catch (IOException e) {
                // The reader has gone, which is its own failure.
              }
            });
    writer.setDaemon(true);
    writer.start();
    return pipe;
  }

  private Path pipe(String name, String text) throws Exception {
    return pipe(name, text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void pipesAreRead() throws Exception {
    assertSolves(pipe("p1", MARKET), pipe("p2", "1\n3\n6\n"));
    assertSolves(pipe("p3", LIBSVM), null);
    assertSolves(pipe("p4", TABLE), put("b.txt", "1\n3\n6\n"));
    assertSolves(pipe("p5", npy("(3, 2)", 1, 0, 1, 1, 1, 2)), pipe("p6", npy("(3,)", 1, 3, 6)));
    assertSolves(pipe("p7.mtx", compressed("xz", MARKET)), put("c.txt", "1\n3\n6\n"));
    assertSolves(pipe("p8", MARKET), pipe("p9", "1\n3\n6\n"), "--reader", "executors");
    CliRun analysis = CliRun.of("analyze", "--matrix", pipe("p10", MARKET));
    assertThat(analysis.out()).as(analysis.err()).contains("3 x 2");

    CliRun wrong = CliRun.of("solve", "--matrix", pipe("p11", TABLE.replace("1,0,1", "1,x,1")));
    assertThat(wrong.code()).isEqualTo(1);
    assertThat(wrong.errors().get(0))
        .contains("p11:3: '1,x,1' is not of the form row,column,value");
    CliRun unclear = CliRun.of("solve", "--matrix", pipe("p12", "hello\n"));
    assertThat(unclear.code()).isEqualTo(2);
    assertThat(unclear.errors().get(0)).contains("p12: the format is not clear");
    assertThat(copies()).isEmpty();
  }

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void standardInputIsRead() throws IOException {
    InputStream before = System.in;
    try {
      System.setIn(new ByteArrayInputStream(MARKET.getBytes(StandardCharsets.ISO_8859_1)));
      assertSolves("-", put("b.txt", "1\n3\n6\n"));
      System.setIn(new ByteArrayInputStream("1\n3\n6\n".getBytes(StandardCharsets.ISO_8859_1)));
      assertSolves(put("a.mtx", MARKET), "-");
      System.setIn(new ByteArrayInputStream(compressed("zst", LIBSVM)));
      assertSolves("-", null);
      CliRun twice = CliRun.of("solve", "--matrix", "-", "--rhs", "-");
      assertThat(twice.code()).isEqualTo(2);
      assertThat(twice.errors().get(0)).contains("one pipe cannot be both");
    } finally {
      System.setIn(before);
    }
  }

  /** Counted from 0, feature 0 never used: A = (0 1 2; 0 3 4; 0 5 7), b = (1, 2, 4). */
  @ParameterizedTest
  @CsvSource({
    "driver, 0, 3",
    "executors, 0, 3",
    "driver, 1, 2",
    "executors, 1, 2",
    "driver,, 2",
    "executors,, 2"
  })
  void libsvmIndicesCountFromWhatIsSaid(String reader, Integer base, int columns)
      throws IOException {
    Path a = put("zero.svm", "1 1:1 2:2\n2 1:3 2:4\n4 1:5 2:7\n");
    List<Object> all = new ArrayList<>(List.of("solve", "--matrix", a, "--reader", reader));
    Path out = folder.resolve("x.mtx");
    all.addAll(List.of("--out", out, "--overwrite"));
    if (base != null) {
      all.addAll(List.of("--index-base", base));
    }
    CliRun run = CliRun.of(all.toArray());
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).contains("3 x " + columns + ",", "2 of " + columns);
    double[] x = MatrixMarket.readDense(out).values();
    assertThat(x).hasSize(columns);
    // (A'A) (p, q)' = A'b without feature 0: 35 p + 49 q = 27, 49 p + 69 q = 38
    double determinant = 35 * 69 - 49 * 49;
    assertThat(x[columns - 2])
        .isCloseTo((27 * 69 - 49 * 38) / determinant, within(Tolerances.ofSolution(28, 1)));
    assertThat(x[columns - 1])
        .isCloseTo((35 * 38 - 49 * 27) / determinant, within(Tolerances.ofSolution(28, 1)));
    String note = "zero.svm: no index is 0, so they are taken to count from 1";
    assertThat(run.err().contains(note)).as(run.err()).isEqualTo(base == null);
  }

  @ParameterizedTest
  @ValueSource(strings = {"driver", "executors"})
  void wrongIndicesOfALibsvmFileAreNamed(String reader) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int k = 0; k < 400; k++) {
      text.append("1 1:1\n");
    }
    Path far = put("far.svm", text + "# here\n2 1:1 2147483600:1\n3 1:1\n");
    CliRun run = CliRun.of("solve", "--matrix", far, "--reader", reader, "--partitions", 4);
    assertThat(run.code()).as(run.err()).isEqualTo(1);
    assertThat(run.errors().get(0))
        .contains("far.svm:402: index 2147483600 makes a matrix of 2,147,483,600 columns")
        .doesNotContain("spark.driver.memory");
    Path zero = put("zero.svm", text + "1 1:1\n1 0:1 2:1\n");
    CliRun one =
        CliRun.of(
            "solve", "--matrix", zero, "--reader", reader, "--partitions", 4, "--index-base", 1);
    assertThat(one.code()).isEqualTo(1);
    assertThat(one.errors().get(0)).contains("zero.svm:402: index 0, but they count from 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"driver", "executors"})
  void symmetricFilesWithBothHalvesAreRefused(String reader) throws IOException {
    String head = "%%MatrixMarket matrix coordinate real symmetric\n";
    StringBuilder entries = new StringBuilder();
    for (int k = 1; k < 300; k++) {
      entries.append(k).append(' ').append(k).append(" 4\n");
      entries.append(k + 1).append(' ').append(k).append(" 1\n");
    }
    Path both = put("both.mtx", head + "300 300 599\n" + entries + "7 8 1\n");
    CliRun run = CliRun.of("solve", "--matrix", both, "--reader", reader, "--partitions", 4);
    assertThat(run.code()).as(run.err()).isEqualTo(1);
    assertThat(run.errors().get(0))
        .contains("both.mtx:601: entry (7, 8) of a symmetric file", "line 16 holds");
    // On both sides, but no entry twice.
    Path mixed = put("mixed.mtx", head + "300 300 599\n" + entries + "7 9 1\n");
    CliRun read = CliRun.of("solve", "--matrix", mixed, "--reader", reader, "--partitions", 4);
    assertThat(read.code()).as(read.err()).isZero();
    assertThat(read.out()).contains("300 x 300, 899 nonzeros");
  }

  @Test
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void aTablesRowNumberWithoutRowsIsRefusedAtOnce() throws IOException {
    Path far = put("far.csv", "row,column,value\n0,0,1\n3000000000,1,2\n");
    CliRun run = CliRun.of("solve", "--matrix", far);
    assertThat(run.code()).as(run.err()).isEqualTo(1);
    assertThat(run.errors().get(0))
        .contains("far.csv:3: row 3000000000 makes a matrix of 3,000,000,001 rows with 2 entries");
    Path wide = put("wide.csv", "0,0,1\n1,2147483600,2\n");
    CliRun columns = CliRun.of("solve", "--matrix", wide);
    assertThat(columns.code()).isEqualTo(1);
    assertThat(columns.errors().get(0)).contains("wide.csv:2: column 2147483600 makes a matrix");
    CliRun transposed = CliRun.of("solve", "--matrix", wide, "--transpose");
    assertThat(transposed.errors().get(0)).contains("wide.csv:2: column 2147483600 makes a matrix");
  }

  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @CsvSource({"nan", "NaN", "NAN", "inf", "-Inf", "+infinity", "-INFINITY"})
  void notFiniteInATableIsNumerical(String value) throws IOException {
    Path a = put("nan.csv", "row,column,value\n0,0,1\n\n1,0, " + value + "\n2,0,1\n");
    CliRun run = CliRun.of("solve", "--matrix", a);
    assertThat(run.code()).as(run.err()).isEqualTo(3);
    assertThat(run.errors().get(0))
        .isEqualTo("sparqr: " + a + ":4: the value of row 1, column 0 is not finite");
  }

  @Test
  void manyRightHandSidesAreSummarized() throws IOException {
    StringBuilder b = new StringBuilder();
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 500; k++) {
        b.append(i == 2 ? k : 0).append(k == 499 ? "\n" : ",");
      }
    }
    // A = (1 0; 1 1; 1 2), b = k (0, 0, 1): the residual is k / sqrt 6.
    Path report = folder.resolve("r.json");
    CliRun run =
        CliRun.of(
            "solve",
            "--matrix",
            put("a.mtx", MARKET),
            "--rhs",
            put("b.csv", b.toString()),
            "--report",
            report);
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out().lines().filter(l -> l.contains("||b - Ax||"))).hasSize(3);
    assertThat(run.out()).contains("500 right-hand sides: least 0.000e+00, median 1.021e+02,");
    assertThat(run.out()).contains("greatest 2.037e+02");
    JsonNode norms = new ObjectMapper().readTree(report.toFile()).get("residualNorm");
    assertThat(norms).hasSize(500);
    assertThat(norms.get(499).asDouble())
        .isCloseTo(499 / Math.sqrt(6), within(Tolerances.roundings(16, 204)));
  }

  @Test
  void optionsOfOtherFormatsAreRefused() throws IOException {
    CliRun variable = CliRun.of("solve", "--matrix", put("a.mtx", MARKET), "--variable", "A");
    assertThat(variable.code()).isEqualTo(2);
    assertThat(variable.errors().get(0)).contains("--variable is for MATLAB files");
    CliRun executors = CliRun.of("solve", "--matrix", put("a.rb", BOEING), "--reader", "executors");
    assertThat(executors.code()).isEqualTo(2);
    assertThat(executors.errors().get(0)).contains("the executors cannot read it");
  }
}
