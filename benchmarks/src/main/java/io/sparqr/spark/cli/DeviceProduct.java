/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.LabeledMatrix;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.ml.NistSet;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Compares the CUDA backend with the CPU's in the whole product, on a GPU host. Every problem is
 * solved by both through Spark, and once more with AUTO. It compares the answers and prints seconds
 * by phase, AUTO's choice, and its cost over the better of the two. Exits with 1 if any answer
 * differs.
 *
 * <p>{@code DeviceProduct MASTER REPEAT LEVELS PROBLEM...}; a problem is {@code gen:SPEC}, or
 * {@code data:FOLDER} for all of the collection's REFERENCE.tsv, or {@code index:FOLDER} for every
 * matrix of known rank in its INDEX.tsv, or {@code nist:FOLDER} for NIST's sets, their columns
 * scaled to norm 1, or a Matrix Market file; matrices of the index and files tall way up, with a
 * right-hand side of our own.
 */
public final class DeviceProduct {

  /**
   * @param rank the known rank, where it is clear; -1: that of the CPU backend
   * @param gap whether the singular values leave no doubt about the rank
   */
  private record Problem(String name, CsrMatrix a, double[] b, int rank, boolean gap) {}

  private final JavaSparkContext context;
  private final int repeat;
  private final int levels;
  private boolean good = true;

  private DeviceProduct(JavaSparkContext context, int repeat, int levels) {
    this.context = context;
    this.repeat = repeat;
    this.levels = levels;
  }

  /** See the class. */
  public static void main(String[] args) throws IOException, InterruptedException {
    SparkConf conf =
        BenchmarkSpark.cluster(args[0], "sparqr on a device", "12g")
            .set("spark.rpc.message.maxSize", "1024");
    boolean good;
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      if (args[0].startsWith("local-cluster")) {
        int executors = Integer.parseInt(args[0].replaceAll("\\D+(\\d+),.*", "$1"));
        while (context.sc().statusTracker().getExecutorInfos().length < executors + 1) {
          Thread.sleep(100);
        }
      }
      var product =
          new DeviceProduct(context, Integer.parseInt(args[1]), Integer.parseInt(args[2]));
      System.out.println("master " + args[0]);
      System.out.println(
          "problem | backend | rank | ||b-Ax|| | tasks, levels | read pattern order analyze plan"
              + " assemble factorize solve total (s) | device MB | devices | difference");
      for (String name : Arrays.asList(args).subList(3, args.length)) {
        for (Problem p : problems(name)) {
          product.compare(p);
        }
      }
      good = product.good;
    }
    System.out.println(good ? "all answers agree" : "SOME ANSWERS DIFFER");
    System.exit(good ? 0 : 1);
  }

  private static List<Problem> problems(String name) throws IOException {
    if (name.startsWith("gen:")) {
      CsrMatrix a = LocalProblem.generate(name);
      return List.of(new Problem(name, a, DefaultRightHandSide.of(a), -1, true));
    }
    if (name.startsWith("index:")) {
      return indexed(Path.of(name.substring("index:".length())));
    }
    if (name.startsWith("nist:")) {
      return nist(Path.of(name.substring("nist:".length())));
    }
    if (!name.startsWith("data:")) {
      return List.of(tall(name, Path.of(name), -1));
    }
    Path data = Path.of(name.substring("data:".length()));
    var list = new ArrayList<Problem>();
    for (String line : Files.readAllLines(data.resolve("REFERENCE.tsv"))) {
      String[] f = line.split("\t");
      if (!f[0].equals("file") && Files.exists(data.resolve(f[0]))) {
        list.add(read(data, f));
      }
    }
    return list;
  }

  private static List<Problem> indexed(Path data) throws IOException {
    var list = new ArrayList<Problem>();
    for (String line : Files.readAllLines(data.resolve("INDEX.tsv"))) {
      String[] f = line.split("\t", -1);
      boolean ranked = f[0].matches(".*\\.mtx(\\.gz)?") && !f[8].isEmpty();
      if (ranked && Files.exists(data.resolve(f[0]))) {
        list.add(tall(f[0], data.resolve(f[0]), Integer.parseInt(f[8].split(" ")[0])));
      }
    }
    return list;
  }

  private static List<Problem> nist(Path folder) throws IOException {
    var list = new ArrayList<Problem>();
    for (NistSet set : NistSet.values()) {
      NistSet.Problem p = set.read(folder);
      list.add(new Problem("nist " + set, scaled(p.a()), p.b(), p.a()[0].length, true));
    }
    return list;
  }

  /** A dense matrix as a sparse one, its columns of norm 1. */
  private static CsrMatrix scaled(double[][] dense) {
    int n = dense[0].length;
    var index = new int[dense.length * n];
    var values = new double[index.length];
    for (int j = 0; j < n; j++) {
      int column = j;
      double scale = norm(Arrays.stream(dense).mapToDouble(row -> row[column]).toArray());
      for (int i = 0; i < dense.length; i++) {
        index[i * n + j] = j;
        values[i * n + j] = dense[i][j] / scale;
      }
    }
    int[] start = IntStream.rangeClosed(0, dense.length).map(i -> i * n).toArray();
    return new CsrMatrix(dense.length, n, start, index, values);
  }

  private static Problem tall(String name, Path file, int rank) throws IOException {
    CsrMatrix read = MatrixMarket.readMatrix(file);
    CsrMatrix a = read.rows() < read.columns() ? read.transpose() : read;
    return new Problem(name, a, DefaultRightHandSide.of(a), rank, true);
  }

  private static Problem read(Path data, String[] f) throws IOException {
    // if singular values decrease without a gap, two backends may find different ranks
    boolean gap =
        f[10].matches("|nan")
            || Double.parseDouble(f[9]) > 1e8 * Math.max(Double.parseDouble(f[10]), 1e-300);
    if (f[1].equals("labels")) {
      LabeledMatrix m = Libsvm.read(data.resolve(f[0]));
      return new Problem(f[0], m.matrix(), m.labels(), -1, gap);
    }
    CsrMatrix a = MatrixMarket.readMatrix(data.resolve(f[0]));
    double[] b = MatrixMarket.readDense(data.resolve(f[1].replace(" (A')", ""))).values();
    return new Problem(f[0], f[1].endsWith("(A')") ? a.transpose() : a, b, -1, gap);
  }

  private void compare(Problem p) {
    var local = new LocalProblem(p.a, new DenseMatrix(p.a.rows(), 1, p.b));
    try (var rows = new DriverRows(context, local, Math.max(8, context.defaultParallelism()))) {
      LeastSquaresSolution cpu = solve(rows, BackendChoice.CPU);
      LeastSquaresSolution cuda = solve(rows, BackendChoice.REQUIRE_CUDA);
      LeastSquaresSolution auto = solve(rows, BackendChoice.AUTO);
      var judged = new AnswerPair(p.a, p.b, cpu, cuda);
      boolean same = judged.same();
      // another rank than the collection's: no gap there either
      boolean clear = p.gap && (p.rank < 0 || p.rank == cpu.rank());
      good &= same || !clear;
      row(p.name, "cpu", cpu, "");
      row(
          p.name,
          "cuda",
          cuda,
          String.format(
              Locale.ROOT,
              "%s%s",
              judged,
              same ? "" : clear ? " DIFFERS" : " differs, no gap in the singular values"));
      // AUTO must give exactly the bits of the backend that it chose
      LeastSquaresSolution chosen =
          auto.report().factorization().backend().startsWith("cuda") ? cuda : cpu;
      boolean equal = Arrays.equals(auto.x(), chosen.x());
      good &= equal;
      row(
          p.name,
          "auto",
          auto,
          String.format(
              Locale.ROOT,
              "took %s (%s), factorize %.2f of the better%s",
              chosen == cuda ? "cuda" : "cpu",
              auto.report().factorization().backendReason(),
              factorize(auto) / Math.min(factorize(cpu), factorize(cuda)),
              equal ? "" : " DIFFERS"));
    }
  }

  /** The run with the median total of the warm ones. */
  private LeastSquaresSolution solve(DriverRows rows, BackendChoice backend) {
    var runs = new ArrayList<LeastSquaresSolution>();
    SparseQRSolver qr =
        GpuSparseQR.builder()
            .backend(backend)
            .partitionOptions(new PartitionOptions(2, Math.max(4, levels), levels, 2e8))
            .build();
    for (int k = 0; k < repeat; k++) {
      runs.add(qr.solve(rows.rows()));
    }
    List<LeastSquaresSolution> warm =
        runs.subList(Math.min(1, repeat - 1), repeat).stream()
            .sorted((s, t) -> Double.compare(total(s), total(t)))
            .toList();
    if (!context.sc().getPersistentRDDs().isEmpty() && context.isLocal()) {
      good = false;
      System.out.println("PERSISTED RDDS LEFT BEHIND");
    }
    return warm.get(warm.size() / 2);
  }

  private static double total(LeastSquaresSolution s) {
    return s.report().seconds().total();
  }

  private static double factorize(LeastSquaresSolution s) {
    return s.report().seconds().factorize();
  }

  private static void row(String name, String backend, LeastSquaresSolution s, String text) {
    SolveReport r = s.report();
    SolveReport.Seconds t = r.seconds();
    System.out.printf(
        Locale.ROOT,
        "%s | %s | %d | %.12e | %d, %d | %.2f %.2f %.2f %.2f %.2f %.2f %.3f %.2f %.2f | %d | %s | %s%n",
        name,
        backend,
        s.rank(),
        s.residualNorm(),
        r.analysis().subtreeTasks(),
        r.analysis().levels(),
        t.read(),
        t.pattern(),
        t.order(),
        t.analyze(),
        t.plan(),
        t.assemble(),
        t.factorize(),
        t.solve(),
        t.total(),
        r.factorization().memory().peakDeviceBytes() >> 20,
        r.factorization().devices(),
        text);
  }

  private static double norm(double[] v) {
    double sum = 0;
    for (double e : v) {
      sum = Math.hypot(sum, e);
    }
    return sum;
  }
}
