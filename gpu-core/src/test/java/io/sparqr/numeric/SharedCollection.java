/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.Sampling;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The shared collection of real matrices and certified problems; a test without it skips. */
public final class SharedCollection {

  private static final Path DATA = Path.of(System.getProperty("sparqr.shared", "none"), "data");

  private SharedCollection() {}

  /**
   * A file or folder of the collection ("" for all of it); absent, the test skips with its name.
   */
  public static Path path(String name) {
    Path path = DATA.resolve(name);
    assumeTrue(Files.exists(path), () -> "no shared collection: " + path);
    return path;
  }

  /**
   * A {@link Sampling}, or under {@code -Dsparqr.test.slice=k/n} every n-th from the k-th (0 to
   * n-1) on, so that a run under a slow tool can be spread over processes.
   */
  public static <T> Stream<T> slice(List<T> cases) {
    String given = System.getProperty("sparqr.test.slice");
    if (given == null) {
      return Sampling.of(cases);
    }
    String[] slice = given.split("/");
    int first = Integer.parseInt(slice[0]);
    int step = Integer.parseInt(slice[1]);
    return IntStream.iterate(first, i -> i < cases.size(), i -> i + step).mapToObj(cases::get);
  }
}
