/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Problems generated from a formula, the same on any machine: those of the measurements.
 *
 * <table>
 *   <caption>Specifications</caption>
 *   <tr><td>{@code chP-Q-bK}</td><td>boundary matrix of the P x Q chessboard complex: one row per
 *       placement of K+1 non-attacking rooks, one column per placement of K, entry (-1)^i where the
 *       i-th rook is left out. Rank deficient.</td></tr>
 *   <tr><td>{@code nugN}</td><td>transpose of the Adams-Johnson linear program of a quadratic
 *     assignment problem of size N. Rank deficient.</td></tr>
 *   <tr><td>{@code cells2dK}, {@code cells3dK}</td><td>unknowns are the nodes of a K x K (x K)
 *     grid, two random rows per cell on its 4 (8) nodes.</td></tr>
 *   <tr><td>{@code grad3dK}</td><td>nodes of a K x K x K grid; one row (-1, 1) per edge, one row
 *       (1) per node.</td></tr>
 *   <tr><td>{@code onehotMxC1xC2...}</td><td>a regression with M rows: 5 numeric columns, then a
 *     factor of C1 levels, of C2 levels, ..., one zipf-distributed level each; the first level of
 *     every factor but the first is left out.</td></tr>
 *   <tr><td>{@code panelWxFxY}</td><td>W workers, F firms, Y years: one row per worker and year
 *       with a one for the worker and a one for the firm, 15% of the workers moving in a year
 *       ({@link WorkerPanel}). Rank
 *     deficient.</td></tr>
 * </table>
 *
 * <p>Suffixes: {@code :rand} puts random values +-[0.5, 1.5) on the pattern; {@code :seed=S}
 * chooses others (default 1). A leading {@code gen:} is allowed.
 */
public final class Gallery {

  /** The prefix of a specification where file names are possible too. */
  public static final String PREFIX = "gen:";

  private static final Pattern SPEC =
      Pattern.compile(
          "(ch)(\\d+)-(\\d+)-b(\\d+)|(nug|cells2d|cells3d|grad3d)(\\d+)|(onehot|panel)([\\dx]+)");

  private static final String KNOWN =
      "chP-Q-bK, nugN, cells2dK, cells3dK, grad3dK, onehotMxC1xC2..., panelWxFxY, with :rand and :seed=S";

  private Gallery() {}

  /** Whether a name is a specification rather than a file. */
  public static boolean isSpec(String name) {
    return name.startsWith(PREFIX);
  }

  /**
   * The matrix of a specification. Time and memory are linear in its entries.
   *
   * @throws IllegalArgumentException if the specification is unknown or its numbers are out of
   *     range
   * @throws io.sparqr.error.IndexOverflowException if the matrix has 2^31 rows, columns or entries
   */
  public static CsrMatrix generate(String specification) {
    String spec = isSpec(specification) ? specification.substring(4) : specification;
    String[] part = spec.toLowerCase(Locale.ROOT).split(":", -1);
    boolean random = false;
    long seed = 1;
    for (int k = 1; k < part.length; k++) {
      if (part[k].equals("rand")) {
        random = true;
      } else if (part[k].matches("seed=-?\\d{1,18}")) {
        seed = Long.parseLong(part[k].substring(5));
      } else {
        throw unknown(specification);
      }
    }
    Matcher m = SPEC.matcher(part[0]);
    if (!m.matches()) {
      throw unknown(specification);
    }
    CsrMatrix a = build(specification, m, seed);
    return random ? randomValues(a, seed) : a;
  }

  private static CsrMatrix build(String specification, Matcher m, long seed) {
    if (m.group(1) != null) {
      int p = number(specification, m.group(2), 1, 40);
      int q = number(specification, m.group(3), 1, 40);
      return Combinatorial.chessboard(
          p, q, number(specification, m.group(4), 1, Math.min(p, q) - 1));
    }
    if (m.group(5) != null) {
      int most = m.group(5).equals("nug") ? 1000 : 100_000;
      int size = number(specification, m.group(6), 2, most);
      return switch (m.group(5)) {
        case "nug" -> Combinatorial.quadraticAssignment(size);
        case "cells2d" -> Grids.cells(2, size, new GalleryRandom(seed));
        case "cells3d" -> Grids.cells(3, size, new GalleryRandom(seed));
        default -> Grids.gradient(size);
      };
    }
    String[] sizes = m.group(8).split("x", -1);
    if (m.group(7).equals("panel")) {
      return panel(specification, sizes, seed).matrix();
    }
    if (sizes.length < 2) {
      throw unknown(specification);
    }
    int rows = number(specification, sizes[0], 1, Integer.MAX_VALUE - 16);
    int[] levels = new int[sizes.length - 1];
    for (int k = 0; k < levels.length; k++) {
      levels[k] = number(specification, sizes[k + 1], 2, 100_000_000);
    }
    return OneHot.regression(rows, levels, new GalleryRandom(seed));
  }

  private static WorkerPanel panel(String specification, String[] sizes, long seed) {
    if (sizes.length != 3) {
      throw unknown(specification);
    }
    return new WorkerPanel(
        number(specification, sizes[0], 1, Integer.MAX_VALUE - 16),
        number(specification, sizes[1], 1, 100_000_000),
        number(specification, sizes[2], 1, 10_000),
        seed);
  }

  private static int number(String specification, String digits, int least, int most) {
    if (digits.isEmpty() || digits.length() > 10) {
      throw unknown(specification);
    }
    long value = Long.parseLong(digits);
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "'" + specification + "': " + value + " is not in " + least + ".." + most);
    }
    return (int) value;
  }

  private static IllegalArgumentException unknown(String specification) {
    return new IllegalArgumentException(
        "'" + specification + "' is not a specification of the gallery: " + KNOWN);
  }

  /** The pattern of a matrix with random values +-[0.5, 1.5). */
  public static CsrMatrix randomValues(CsrMatrix a, long seed) {
    GalleryRandom random = new GalleryRandom(seed);
    double[] values = new double[a.nonzeros()];
    Arrays.setAll(values, k -> random.value());
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), values);
  }
}
