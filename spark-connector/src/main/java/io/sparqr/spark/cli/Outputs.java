/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Result files that appear all or not at all: each is written under a temporary name beside its
 * place and moved there when every one is complete. What is left when this is closed is deleted.
 */
final class Outputs implements AutoCloseable {

  /** Writes one file. */
  interface Content {
    void write(Path file) throws IOException;
  }

  private final Map<Path, Path> pending = new LinkedHashMap<>();

  /**
   * Checks before any work that a result can be written.
   *
   * @param target null: nothing to write, fine
   * @throws UsageException if it exists and may not be replaced, is a folder, or has no folder
   */
  static void check(Path target, boolean overwrite) {
    if (target == null) {
      return;
    }
    if (Files.isDirectory(target)) {
      throw new UsageException(target + " is a folder");
    }
    if (Files.exists(target) && !overwrite) {
      throw new UsageException(target + " exists (--overwrite replaces it)");
    }
    Path folder = folder(target);
    if (!Files.isDirectory(folder)) {
      throw new UsageException(folder + ": no such folder for " + target.getFileName());
    }
    if (!Files.isWritable(folder)) {
      throw new UsageException(folder + ": cannot write there");
    }
  }

  private static Path folder(Path target) {
    return target.toAbsolutePath().getParent();
  }

  /** Writes a result under its temporary name; null target: does nothing. */
  void add(Path target, Content content) throws IOException {
    if (target == null) {
      return;
    }
    // The ending stays last: it decides whether the writer compresses.
    Path temporary =
        folder(target)
            .resolve(".sparqr-" + ProcessHandle.current().pid() + "-" + target.getFileName());
    pending.put(target, temporary);
    content.write(temporary);
  }

  /** Moves all results to their places. */
  void commit() throws IOException {
    for (var entry : pending.entrySet()) {
      Files.move(entry.getValue(), entry.getKey(), StandardCopyOption.REPLACE_EXISTING);
    }
    pending.clear();
  }

  @Override
  public void close() throws IOException {
    for (Path temporary : pending.values()) {
      Files.deleteIfExists(temporary);
    }
  }
}
