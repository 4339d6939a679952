/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampling;
import io.sparqr.matrix.LabeledMatrix;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The problems of the shared collection that have a dense reference, of full rank or with a clear
 * gap in the singular values: rank, residual norm, backward error.
 */
@Tag("numbers")
class RealProblemsTest {

  /** A line of REFERENCE.tsv. */
  private record Reference(
      String matrix, String rhs, int rank, double residual, double condition, double gap) {

    static Reference parse(String line) {
      String[] f = line.split("\t");
      double below = f[10].matches("|nan") ? Double.NaN : Double.parseDouble(f[10]);
      return f[4].isEmpty()
          ? new Reference(f[0], f[1], -1, 0, 0, 0)
          : new Reference(
              f[0],
              f[1],
              Integer.parseInt(f[4]),
              Double.parseDouble(f[6]),
              Double.parseDouble(f[8]),
              Double.isNaN(below) ? Double.POSITIVE_INFINITY : Double.parseDouble(f[9]) / below);
    }

    boolean clear() {
      return rank >= 0 && condition < 1e8 && gap > 1e8;
    }

    LabeledMatrix read(Path data) throws IOException {
      if (rhs.equals("labels")) {
        return Libsvm.read(data.resolve(matrix));
      }
      CsrMatrix a = MatrixMarket.readMatrix(data.resolve(matrix));
      double[] b = MatrixMarket.readDense(data.resolve(rhs.replace(" (A')", ""))).values();
      return new LabeledMatrix(rhs.endsWith("(A')") ? a.transpose() : a, b, "");
    }
  }

  @Test
  void clearProblemsAreSolvedToBackwardStability() throws IOException {
    Path data = Path.of(System.getProperty("sparqr.shared", "absent"), "data");
    Path table = data.resolve("REFERENCE.tsv");
    Assumptions.assumeTrue(Files.exists(table), "the shared collection is not here");
    List<Reference> clear =
        Files.readAllLines(table).stream()
            .skip(1)
            .map(Reference::parse)
            .filter(Reference::clear)
            .toList();
    assertThat(clear).hasSizeGreaterThan(10);
    for (Reference r : Sampling.of(clear).toList()) {
      LabeledMatrix p = r.read(data);
      check(r, p.matrix(), p.labels());
    }
  }

  private static void check(Reference r, CsrMatrix a, double[] b) {
    LeastSquaresSolution s =
        GpuSparseQR.builder()
            .ordering(OrderingMethod.COLAMD)
            .executors(2)
            .partitionOptions(new PartitionOptions(2, 4, 2, 0))
            .check(true)
            .solve(Problems.rdd(a, 3, b));
    assertThat(s.rank()).as(r.matrix).isEqualTo(r.rank);
    if (r.residual > 1e-8 * Problems.norm(b)) {
      assertThat(s.report().residual().normalResidual())
          .as(r.matrix)
          .isLessThan(Tolerances.UNITS * Tolerances.EPS);
      assertThat(s.residualNorm())
          .as(r.matrix)
          .isCloseTo(r.residual, within(Tolerances.RESIDUAL * r.residual));
    } else {
      double size = Problems.norm(a.values()) * Problems.norm(s.x()) + Problems.norm(b);
      assertThat(Problems.norm(Problems.residual(a, s.x(), b)))
          .as(r.matrix)
          .isLessThan(1.01 * r.residual + Tolerances.of(a.rows(), a.columns(), size));
    }
  }
}
