/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.input.UsageException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Result files that appear together or not at all: each is written under a temporary name next to
 * its target and moved there once all are complete. If overwriting is not allowed, targets are
 * claimed exclusively, so that the later of two runs with one target gets an error. Files left over
 * are deleted on closing.
 */
final class Outputs implements AutoCloseable {

  /** Writes the content of one file. */
  interface Content {
    void write(Path file) throws IOException;
  }

  private final boolean overwrite;
  private final Map<Path, Path> pending = new LinkedHashMap<>();

  /**
   * @param overwrite whether existing files may be replaced
   */
  Outputs(boolean overwrite) {
    this.overwrite = overwrite;
  }

  /**
   * Checks before any work that a result can be written.
   *
   * @param target the file, if there is to be one
   * @throws UsageException if it exists and must not be replaced, is a folder, or has no folder
   */
  static void check(@Nullable Path target, boolean overwrite) {
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
    return Objects.requireNonNull(target.toAbsolutePath().getParent());
  }

  /**
   * Writes a result under its temporary name; does nothing without a target.
   *
   * @throws OutputException if that fails, naming the target
   */
  void add(@Nullable Path target, Content content) {
    if (target == null) {
      return;
    }
    // Not the process id: in containers that share a folder every process may have id 1. The ending
    // is kept at the end, because it decides whether the writer compresses.
    String mark = Long.toHexString(ThreadLocalRandom.current().nextLong());
    Path temporary = folder(target).resolve(".sparqr-" + mark + "-" + target.getFileName());
    pending.put(target, temporary);
    try {
      content.write(temporary);
    } catch (IOException | UncheckedIOException e) {
      throw new OutputException(target + " cannot be written: " + reason(e), e);
    }
  }

  /**
   * Moves all results to their targets.
   *
   * @throws OutputException if a target has come into existence since the check and must not be
   *     overwritten (the results then stay under the names given in the message), or if a file
   *     cannot be moved
   */
  void commit() {
    if (!overwrite) {
      take();
    }
    for (var entry : pending.entrySet()) {
      try {
        // REPLACE_EXISTING would delete the target first: another run could claim it in between.
        Files.move(entry.getValue(), entry.getKey(), StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        throw new OutputException(entry.getKey() + " cannot be written: " + reason(e), e);
      }
    }
    pending.clear();
  }

  /** Claims every target by creating it as an empty file, or claims none. */
  private void take() {
    List<Path> taken = new ArrayList<>();
    for (Path target : pending.keySet()) {
      try {
        Files.createFile(target);
        taken.add(target);
      } catch (IOException e) {
        for (Path ours : taken) {
          ours.toFile().delete();
        }
        if (!(e instanceof FileAlreadyExistsException)) {
          throw new OutputException(target + " cannot be written: " + reason(e), e);
        }
        String kept =
            pending.values().stream().map(Path::toString).collect(Collectors.joining(" and "));
        // They may represent hours of work.
        pending.clear();
        throw new OutputException(
            target
                + " was written by another run meanwhile; what this one found is kept in "
                + kept
                + " (--overwrite replaces files)",
            e);
      }
    }
  }

  /** The reason, without the path that Java puts first. */
  private static String reason(Exception e) {
    Exception cause =
        e instanceof UncheckedIOException u ? Objects.requireNonNull(u.getCause()) : e;
    if (cause instanceof FileSystemException f && f.getReason() != null) {
      return f.getReason();
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  @Override
  public void close() {
    for (Path temporary : pending.values()) {
      // Failing to delete a file must not hide the original error.
      temporary.toFile().delete();
    }
  }
}
