/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.MatlabVariable.Kind;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads matrices from MATLAB files of version 5 (.mat; MATLAB's {@code save -v6} and {@code -v7},
 * Octave's {@code -v7}, SciPy's {@code savemat}): sparse and full, real, of any type of numbers,
 * compressed or not, also as fields of a structure, as in the SuiteSparse collection ({@code
 * Problem.A}). MathWorks, "MAT-File Level 5 File Format". Zeros of a full matrix are no entries of
 * a sparse one.
 *
 * <p>The reader is our own because it has to read from any stream (standard input, another
 * compression, a remote file) and must not allocate what a header promises before the data are
 * there.
 */
public final class Matlab {

  private Matlab() {}

  /** Whether a file that begins with these bytes (128 or more) is a MATLAB file of version 5. */
  public static boolean isMatlab(byte[] first) {
    return first.length >= 128
        && (first[126] == 'I' && first[127] == 'M' || first[126] == 'M' && first[127] == 'I')
        && new String(first, 0, 6, StandardCharsets.ISO_8859_1).equals("MATLAB");
  }

  /**
   * Reads a matrix; the stream stays open.
   *
   * @param source what messages call the file
   * @param variable its name; default: the only sparse matrix, or else the only matrix, or else A
   * @throws MatrixFormatException if the file is malformed, or the variable does not exist, is no
   *     real matrix or not the only one
   * @throws io.sparqr.error.NonFiniteValueException at NaN or infinity
   */
  public static CsrMatrix readMatrix(InputStream in, String source, @Nullable String variable)
      throws IOException {
    List<MatlabVariable> all = read(in, source, variable);
    boolean sparse = all.stream().anyMatch(v -> v.kind() == Kind.SPARSE);
    MatlabVariable chosen =
        variable != null
            ? named(all, variable, source)
            : only(all, v -> sparse ? v.kind() == Kind.SPARSE : isMatrix(v), "A", source);
    return chosen instanceof MatlabVariable.Sparse s
        ? s.matrix()
        : CompressedForm.ofDense(((MatlabVariable.Full) chosen).matrix());
  }

  /**
   * Reads right-hand sides, m x k; the stream stays open. Errors as for {@link #readMatrix}.
   *
   * @param variable its name; default: the only matrix, or else b
   */
  public static DenseMatrix readDense(InputStream in, String source, @Nullable String variable)
      throws IOException {
    List<MatlabVariable> all = read(in, source, variable);
    MatlabVariable chosen =
        variable != null ? named(all, variable, source) : only(all, Matlab::isMatrix, "b", source);
    return chosen instanceof MatlabVariable.Full f
        ? f.matrix()
        : CompressedForm.toDense(((MatlabVariable.Sparse) chosen).matrix(), source);
  }

  private static List<MatlabVariable> read(InputStream in, String source, @Nullable String wanted)
      throws IOException {
    return new MatlabReader(TextScanner.gunzipped(in, source), source, wanted).read();
  }

  private static boolean isMatrix(MatlabVariable v) {
    return v.kind() != Kind.OTHER;
  }

  private static MatlabVariable named(List<MatlabVariable> all, String name, String source) {
    for (MatlabVariable v : all) {
      if (v.name().equals(name)) {
        return usable(v);
      }
    }
    throw malformed(source, "no variable '" + name + "', there are " + names(all));
  }

  private static MatlabVariable only(
      List<MatlabVariable> all, Predicate<MatlabVariable> fits, String usual, String source) {
    List<MatlabVariable> fitting = all.stream().filter(fits).toList();
    List<MatlabVariable> called =
        fitting.stream()
            .filter(v -> v.name().equals(usual) || v.name().endsWith("." + usual))
            .toList();
    if (fitting.size() == 1 || called.size() == 1) {
      return usable(fitting.size() == 1 ? fitting.get(0) : called.get(0));
    }
    if (fitting.isEmpty() && all.size() == 1) {
      return usable(all.get(0));
    }
    throw malformed(
        source,
        fitting.isEmpty()
            ? "no matrix of numbers, there are " + names(all)
            : "several matrices, none of them called " + usual + ": " + names(fitting));
  }

  private static MatlabVariable usable(MatlabVariable v) {
    if (v instanceof MatlabVariable.Unusable unusable) {
      throw unusable.why();
    }
    return v;
  }

  private static List<String> names(List<MatlabVariable> all) {
    return all.stream().map(MatlabVariable::name).limit(20).toList();
  }

  private static MatrixFormatException malformed(String source, String what) {
    return new MatrixFormatException(source + ": " + what, source, -1);
  }
}
