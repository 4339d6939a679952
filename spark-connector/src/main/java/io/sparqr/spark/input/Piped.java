/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.jvm.JvmPart;
import io.sparqr.spark.file.Compression;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Inputs that can be read only once, in order: standard input ({@code -}), named pipes, a shell's
 * {@code <(command)}. A command looks at its input before it reads it, and Spark opens files by
 * itself, so such an input is copied to a temporary file, decompressed, when it is first asked for.
 * The copies belong to the thread of the command and are deleted at its end.
 */
public final class Piped {

  /** The name that stands for standard input. */
  private static final String STANDARD = "-";

  private static final JvmPart<ThreadLocal<Map<String, Path>>> COPIES =
      JvmPart.of("copies of piped inputs", () -> ThreadLocal.withInitial(HashMap::new));

  private Piped() {}

  /** Whether a name stands for an input that can be read only once. */
  public static boolean is(String name) {
    if (name.equals(STANDARD)) {
      return true;
    }
    if (MatrixFormat.remote(name)) {
      return false;
    }
    Path path = Path.of(name);
    return Files.exists(path) && !Files.isRegularFile(path) && !Files.isDirectory(path);
  }

  /**
   * Whether Spark's reader cannot open a file as it is because of its compression: a table (.csv)
   * in a compression that Hadoop has no codec for. It is copied, too.
   */
  static boolean needsUnpacking(String name) {
    return !MatrixFormat.remote(name)
        && name.toLowerCase(Locale.ROOT).matches(".*\\.csv\\.(xz|zst)")
        && Files.isRegularFile(Path.of(name));
  }

  /** The file to read in place of a name: a copy for an input that can be read only once. */
  static Path file(String name) throws IOException {
    if (!is(name) && !needsUnpacking(name)) {
      return Path.of(name);
    }
    Path copy = COPIES.get().get().get(name);
    if (copy == null) {
      copy = copied(name);
      COPIES.get().get().put(name, copy);
    }
    return copy;
  }

  private static Path copied(String name) throws IOException {
    // Not Files.newInputStream, whose streams seek, which a pipe cannot.
    try (InputStream raw = name.equals(STANDARD) ? standardInput() : new FileInputStream(name);
        InputStream in = Compression.open(raw, name)) {
      byte[] head = in.readNBytes(MatrixFormat.HEAD);
      String ending =
          MatrixFormat.ofContent(head)
              .filter(f -> f == MatrixFormat.CSV || f == MatrixFormat.PARQUET)
              .map(f -> "." + f.name().toLowerCase(Locale.ROOT))
              .orElse("");
      Path copy = Files.createTempFile("sparqr-input-", ending);
      copy.toFile().deleteOnExit();
      boolean done = false;
      try (OutputStream out = Files.newOutputStream(copy)) {
        new SequenceInputStream(new ByteArrayInputStream(head), in).transferTo(out);
        done = true;
      } finally {
        if (!done) {
          Files.deleteIfExists(copy);
        }
      }
      return copy;
    }
  }

  /** Standard input, which stays open. */
  private static InputStream standardInput() {
    return new java.io.FilterInputStream(System.in) {
      @Override
      public void close() {
        // Not ours to close.
      }
    };
  }

  /** Deletes the copies of this thread. */
  public static void deleteCopies() {
    for (Path copy : COPIES.get().get().values()) {
      copy.toFile().delete();
    }
    COPIES.get().remove();
  }
}
