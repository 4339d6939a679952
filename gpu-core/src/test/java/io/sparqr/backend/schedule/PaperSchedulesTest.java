/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The worked example of Yeralan, Davis, Sid-Lakhdar and Ranka, figures 6 to 8: a front of 256 x 160
 * whose row tiles 7 and 8 begin in the second column tile, with bundles of three, without and with
 * pipelining. The lists are those of the pages, which say what each launch does; carried out with
 * numbers, by Householder reflectors of this class, they triangularize a matrix.
 */
class PaperSchedulesTest {

  private static final Path DOCS = Path.of(System.getProperty("basedir", "."), "..", "docs");

  private static final int TILE = 32;
  private static final int ROW_TILES = 8;
  private static final int COLUMN_TILES = 5;
  private static final int[] LEFTMOST = {0, 0, 0, 0, 0, 0, 1, 1};

  private static FrontSchedule schedule(boolean pipelining) {
    return BucketScheduler.schedule(LEFTMOST, COLUMN_TILES, COLUMN_TILES, 3, pipelining);
  }

  private static List<Integer> operations(FrontSchedule s, int round) {
    var all = new ArrayList<Integer>();
    for (int at = s.opStart(round); at < s.opStart(round + 1); at = s.next(at)) {
      all.add(at);
    }
    return all;
  }

  /** Row tiles that an operation applies reflectors to, from zero. */
  private static List<Integer> applied(FrontSchedule s, int at) {
    var tiles = new ArrayList<Integer>();
    for (int i = 0; i < s.size(at) && s.kind(at) != TaskLayout.FACTORIZE; i++) {
      boolean idleBefore =
          s.kind(at) == TaskLayout.APPLY_FACTORIZE && i > 0 && (s.applied(at) >> i - 1 & 1) == 0;
      if (!idleBefore) {
        tiles.add(s.tile(at, i));
      }
    }
    return tiles;
  }

  /** Row tiles of the bundle that an operation factorizes, from zero. */
  private static List<Integer> bundle(FrontSchedule s, int at) {
    var tiles = new ArrayList<Integer>();
    for (int i = s.bundleFrom(at); i < s.size(at) && s.factorized(at) >= 0; i++) {
      tiles.add(s.tile(at, i));
    }
    return tiles;
  }

  private static String shown(int column, List<Integer> tiles) {
    var text = new StringJoiner(",", (column + 1) + ":{", "}");
    tiles.forEach(t -> text.add("" + (t + 1)));
    return text.toString();
  }

  /** A line of the page's table. */
  private static String line(FrontSchedule s, int round) {
    var factorize = new StringJoiner(" ");
    var apply = new StringJoiner(" ");
    var both = new StringJoiner(" ");
    for (int at : operations(s, round)) {
      String left = shown(s.column(at), applied(s, at));
      String right = shown(s.factorized(at), bundle(s, at));
      switch (s.kind(at)) {
        case TaskLayout.FACTORIZE -> factorize.add(right);
        case TaskLayout.APPLY -> apply.add(left);
        default -> both.add(left + ">" + right);
      }
    }
    return "| %d | %s | %s | %s |".formatted(round + 1, factorize, apply, both).replace("  ", " ");
  }

  @ParameterizedTest
  @CsvSource({"false, papers.md, 12", "true, design/scheduler.md, 7"})
  void thePageHasTheLists(boolean pipelining, String page, int rounds) throws IOException {
    FrontSchedule s = schedule(pipelining);
    assertThat(s.rounds()).isEqualTo(rounds);
    var lines = new StringJoiner("\n");
    for (int round = 0; round < rounds; round++) {
      lines.add(line(s, round));
    }
    assertThat(Files.readString(DOCS.resolve(page))).contains(lines.toString() + "\n\n");
  }

  /** What the text of section 3.1 says about figures 7 and 8. */
  @Test
  void theSecondLaunchIsThatOfTheText() {
    for (boolean pipelining : new boolean[] {false, true}) {
      FrontSchedule s = schedule(pipelining);
      assertThat(line(s, 0)).isEqualTo("| 1 | 1:{1,2,3} 1:{4,5,6} 2:{7,8} | | |");
    }
    FrontSchedule without = schedule(false);
    // Figure 7c: the bundles of the first launch are applied, and nothing else is done with them.
    assertThat(line(without, 1)).contains("1:{1,2,3}", "1:{4,5,6}", "2:{7,8}").doesNotContain(">");
    // Figure 8c: the rest of both large bundles is factorized at once; one has grown by tile 7.
    FrontSchedule with = schedule(true);
    int grown = 0;
    int pipelined = 0;
    for (int at : operations(with, 1)) {
      if (with.kind(at) == TaskLayout.APPLY_FACTORIZE) {
        pipelined++;
        assertThat(applied(with, at)).hasSize(3);
        List<Integer> rest = applied(with, at).subList(1, 3);
        List<Integer> bundle = bundle(with, at);
        assertThat(bundle.subList(0, 2)).isEqualTo(rest);
        grown += bundle.size() == 3 && bundle.get(2) == 6 ? 1 : 0;
      }
    }
    assertThat(pipelined).isEqualTo(2);
    assertThat(grown).isEqualTo(1);
  }

  /** Reflectors of a bundle: v of each column, H = I - tau v v' with v over all of its rows. */
  private record Bundle(List<Integer> tiles, double[][] v, double[] tau) {}

  private static double[][] stacked(double[][] a, List<Integer> tiles) {
    double[][] rows = new double[TILE * tiles.size()][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = a[TILE * tiles.get(i / TILE) + i % TILE];
    }
    return rows;
  }

  private static void reflect(double[][] rows, double[] v, double tau, int column) {
    double sum = 0;
    for (int i = 0; i < rows.length; i++) {
      sum += v[i] * rows[i][column];
    }
    for (int i = 0; i < rows.length; i++) {
      rows[i][column] -= tau * sum * v[i];
    }
  }

  private static Bundle factorize(double[][] a, List<Integer> tiles, int column) {
    double[][] rows = stacked(a, tiles);
    var bundle = new Bundle(tiles, new double[TILE][rows.length], new double[TILE]);
    for (int k = 0; k < TILE; k++) {
      double[] v = bundle.v[k];
      double squares = 0;
      for (int i = k; i < rows.length; i++) {
        v[i] = rows[i][TILE * column + k];
        squares += v[i] * v[i];
      }
      v[k] += Math.copySign(Math.sqrt(squares), v[k]);
      bundle.tau[k] = 1 / (Math.sqrt(squares) * Math.abs(v[k]));
      for (int j = k; j < TILE; j++) {
        reflect(rows, v, bundle.tau[k], TILE * column + j);
      }
      for (int i = k + 1; i < rows.length; i++) {
        rows[i][TILE * column + k] = 0;
      }
    }
    return bundle;
  }

  private static void apply(double[][] a, Bundle bundle, int fromColumn) {
    double[][] rows = stacked(a, bundle.tiles);
    for (int j = TILE * fromColumn; j < TILE * COLUMN_TILES; j++) {
      for (int k = 0; k < TILE; k++) {
        reflect(rows, bundle.v[k], bundle.tau[k], j);
      }
    }
  }

  /** Carries out a list; within a round in its order or in the opposite one. */
  private static void execute(FrontSchedule s, double[][] a, boolean backwards) {
    var before = new TreeMap<Integer, Bundle>();
    for (int round = 0; round < s.rounds(); round++) {
      var now = new TreeMap<Integer, Bundle>();
      List<Integer> operations = operations(s, round);
      if (backwards) {
        Collections.reverse(operations);
      }
      for (int at : operations) {
        if (!applied(s, at).isEmpty()) {
          Bundle reflectors = before.get(s.readSlot(at));
          assertThat(reflectors.tiles).isEqualTo(applied(s, at));
          apply(a, reflectors, s.column(at) + 1);
        }
        if (s.factorized(at) >= 0) {
          Bundle made = factorize(a, bundle(s, at), s.factorized(at));
          now.put(s.writeSlot(at), made);
        }
      }
      before = now;
    }
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void carriedOutTheListsTriangularizeAMatrix(boolean pipelining, boolean backwards) {
    Random random = new Random(Long.getLong("test.seed", 42L));
    double[][] a = new double[TILE * ROW_TILES][TILE * COLUMN_TILES];
    double norm = 0;
    for (int i = 0; i < a.length; i++) {
      for (int j = TILE * LEFTMOST[i / TILE]; j < a[i].length; j++) {
        a[i][j] = random.nextGaussian();
        norm += a[i][j] * a[i][j];
      }
    }
    double[][] gram = gram(a);
    execute(schedule(pipelining), a, backwards);
    double limit = Tolerances.of(a.length, a[0].length, norm);
    for (int i = 0; i < a.length; i++) {
      for (int j = 0; j < Math.min(i, a[0].length); j++) {
        assertThat(a[i][j]).as("entry %d, %d below the diagonal", i, j).isZero();
      }
    }
    double[][] ofFactor = gram(a);
    for (int i = 0; i < gram.length; i++) {
      for (int j = 0; j < gram.length; j++) {
        assertThat(ofFactor[i][j]).isCloseTo(gram[i][j], within(limit));
      }
    }
  }

  private static double[][] gram(double[][] a) {
    int n = a[0].length;
    double[][] product = new double[n][n];
    for (double[] row : a) {
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
          product[i][j] += row[i] * row[j];
        }
      }
    }
    return product;
  }
}
