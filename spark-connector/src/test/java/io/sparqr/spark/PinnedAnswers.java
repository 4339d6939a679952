/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ludovic.netlib.blas.JavaBLAS;
import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.apache.spark.api.java.JavaRDD;

/**
 * Seeded problems solved in every way. It prints one line for each result that a mere rearrangement
 * of code must not change: checksums of bits, and the report without its times. It is a program,
 * because it needs a JVM in which no arithmetic depends on the machine.
 */
final class PinnedAnswers {

  /**
   * Values that differ from run to run, with the machine, or with the names of the serialized
   * classes.
   */
  private static final Set<String> FREE =
      Set.of(
          "seconds",
          "gflops",
          "boundSeconds",
          "boundShare",
          "backend",
          "peakDeviceBytes",
          "peakHostBytes",
          "foretoldHostBytes",
          "factorBytes",
          "shuffleBytes",
          "run");

  private static final long SEED = 20260114;

  private final Consumer<String> out;
  private List<String> keysBefore = List.of();

  private PinnedAnswers(Consumer<String> out) {
    this.out = out;
  }

  /** Prints marked lines, because Spark prints too. */
  public static void main(String[] arguments) throws IOException {
    var pins = new PinnedAnswers(line -> System.out.println(PinnedAnswersTest.MARK + line));
    // VectorBLAS adds up in the machine's vector width, OpenBLAS by its kernels
    pins.out.accept("blas " + JavaBLAS.getInstance().getClass().getSimpleName());
    pins.cut();
    pins.ridge();
    pins.dead();
    pins.keptQ();
    pins.leastNorm();
  }

  private static GpuSparseQR.Builder solver(int levels) {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .partitions(3)
        .partitionOptions(new PartitionOptions(2, 4, levels, 0));
  }

  /** Three levels, singletons, two right-hand sides, refined and checked. */
  private void cut() throws IOException {
    CsrMatrix a = Problems.withSingletons(Problems.grid(24, SEED), 5, SEED + 1);
    double[] b = Problems.rhs(a.rows(), SEED + 2);
    double[] c = Problems.rhs(a.rows(), SEED + 3);
    JavaRDD<SparseRow> rows = Problems.rdd(a, 3, b, c);
    factorization("cut", solver(3).check(true).refinement(1), rows, a.rows());
  }

  /** Weights and a ridge, many rows a front: combined before the shuffle. */
  private void ridge() throws IOException {
    CsrMatrix a = Problems.random(900, 40, 6, SEED);
    double[] b = Problems.rhs(a.rows(), SEED + 1);
    var rows = new ArrayList<SparseRow>();
    for (SparseRow r : Problems.rows(a, b)) {
      double weight = 0.25 * (rows.size() % 7);
      rows.add(new SparseRow(r.indices(), r.values(), r.labels(), weight, r.columns()));
    }
    var rdd = LocalSpark.context().parallelize(rows, 4);
    factorization("ridge", solver(2).ridge(0.25), rdd, a.rows());
  }

  /** Dependent columns, which are not scaled. */
  private void dead() throws IOException {
    CsrMatrix a = dependent();
    JavaRDD<SparseRow> rows = Problems.rdd(a, 2, Problems.rhs(a.rows(), SEED + 1));
    factorization("dead", solver(2).equilibrate(false).singletons(false), rows, a.rows());
  }

  /** Every seventh column twice. */
  private static CsrMatrix dependent() {
    CsrMatrix a = Problems.random(160, 50, 4, SEED);
    int n = a.columns();
    int[] start = new int[a.rows() + 1];
    var index = new ArrayList<Integer>();
    var value = new ArrayList<Double>();
    for (int i = 0; i < a.rows(); i++) {
      for (int pass = 0; pass < 2; pass++) {
        for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
          int j = a.columnIndex()[k];
          if (pass == 0 || j % 7 == 0) {
            index.add(pass == 0 ? j : n + j / 7);
            value.add(a.values()[k]);
          }
        }
      }
      start[i + 1] = index.size();
    }
    int[] columns = index.stream().mapToInt(Integer::intValue).toArray();
    double[] values = value.stream().mapToDouble(Double::doubleValue).toArray();
    return new CsrMatrix(a.rows(), n + (n + 6) / 7, start, columns, values);
  }

  private void keptQ() throws IOException {
    CsrMatrix a = Problems.withSingletons(Problems.grid(12, SEED), 3, SEED + 1);
    JavaRDD<SparseRow> rows = Problems.rdd(a, 3, Problems.rhs(a.rows(), SEED + 2));
    factorization("keptQ", solver(2).keepQ(true), rows, a.rows());
  }

  /** Of a wide matrix by its transpose, of a rank-deficient one by two factorizations. */
  private void leastNorm() throws IOException {
    CsrMatrix wide = Problems.random(30, 90, 5, SEED);
    double[] b = Problems.rhs(30, SEED + 1);
    var qr = solver(2).minimumNorm(true).check(true).build();
    solution("wide", qr.solve(Problems.rdd(wide, 2, b)));
    CsrMatrix a = dependent();
    solution("rank-deficient", qr.solve(Problems.rdd(a, 2, Problems.rhs(a.rows(), SEED + 1))));
  }

  private void factorization(
      String name, GpuSparseQR.Builder solver, JavaRDD<SparseRow> rows, int m) throws IOException {
    try (QRFactorization f = solver.factorize(rows)) {
      RFactor r = f.collectR();
      out.accept(
          "%s R %d rows, %d entries, structure %s, values %s, scale %s, Q'b %s"
              .formatted(
                  name,
                  r.matrix().rows(),
                  r.matrix().nonzeros(),
                  sum(r.matrix().rowStart(), r.matrix().columnIndex()),
                  sum(r.matrix().values()),
                  sum(r.scale()),
                  sum(r.rhs())));
      report(name + " before solve", f.summary());
      solution(name, f.solve());
      out.accept(name + " errors " + sum(f.standardErrors()));
      double[] c = Problems.rhs(m, SEED + 9);
      List<double[]> labels = Arrays.stream(c).mapToObj(v -> new double[] {v, 2 - v}).toList();
      var aligned = LocalSpark.context().parallelize(labels, rows.getNumPartitions());
      solution(name + " further", f.solve(aligned));
    }
  }

  private void solution(String name, LeastSquaresSolution s) throws IOException {
    out.accept(
        "%s x %s, residual %s, rank %d, dead %s"
            .formatted(
                name,
                sum(s.solutions()),
                sum(s.residualNorms()),
                s.rank(),
                Arrays.toString(s.deadColumns())));
    report(name, s.report());
  }

  /** All keys in their order, and the values that are the same everywhere. */
  private void report(String name, SolveReport report) throws IOException {
    JsonNode json = new ObjectMapper().readTree(report.toJson());
    var keys = new ArrayList<String>();
    json.properties()
        .forEach(
            e -> {
              keys.add(e.getKey());
              e.getValue()
                  .fieldNames()
                  .forEachRemaining(inner -> keys.add(e.getKey() + "." + inner));
            });
    out.accept(name + " keys " + (keys.equals(keysBefore) ? "as before" : String.join(" ", keys)));
    keysBefore = keys;
    var values = new StringBuilder();
    json.properties()
        .forEach(
            e -> {
              if (!FREE.contains(e.getKey())) {
                values.append(' ').append(e.getKey()).append('=').append(e.getValue());
              }
            });
    out.accept(name + " report" + values.toString().replaceAll("[0-9.]+ s\\b", "_ s"));
  }

  private static String sum(int[]... arrays) {
    var crc = new CRC32C();
    for (int[] a : arrays) {
      ByteBuffer bytes = ByteBuffer.allocate(4 * a.length);
      IntStream.of(a).forEach(bytes::putInt);
      crc.update(bytes.array());
    }
    return "%08x".formatted(crc.getValue());
  }

  private static String sum(double[]... arrays) {
    var crc = new CRC32C();
    for (double[] a : arrays) {
      ByteBuffer bytes = ByteBuffer.allocate(8 * a.length);
      Arrays.stream(a).forEach(bytes::putDouble);
      crc.update(bytes.array());
    }
    return "%08x".formatted(crc.getValue());
  }
}
