/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

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
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * Result files that appear all or not at all: each is written under a temporary name beside its
 * place and moved there when every one is complete. Without leave to overwrite a place is taken
 * exclusively, so that of two runs with one target the later is told. What is left when this is
 * closed is deleted.
 */
final class Outputs implements AutoCloseable {

  /** Writes one file. */
  interface Content {
    void write(Path file) throws IOException;
  }

  private final boolean overwrite;
  private final Map<Path, Path> pending = new LinkedHashMap<>();

  /** Of a run. */
  Outputs(boolean overwrite) {
    this.overwrite = overwrite;
  }

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

  /**
   * Writes a result under its temporary name; null target: does nothing.
   *
   * @throws OutputException if that fails; it names the target
   */
  void add(Path target, Content content) {
    if (target == null) {
      return;
    }
    // Not the process's number: runs in containers that share a folder are all number 1. The
    // ending stays last: it decides whether the writer compresses.
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
   * Moves all results to their places.
   *
   * @throws OutputException if a place was taken since it was checked and may not be overwritten:
   *     the results stay under the names that the message gives; or if a file cannot be moved
   */
  void commit() {
    if (!overwrite) {
      take();
    }
    for (var entry : pending.entrySet()) {
      try {
        Files.move(entry.getValue(), entry.getKey(), StandardCopyOption.REPLACE_EXISTING);
      } catch (IOException e) {
        throw new OutputException(entry.getKey() + " cannot be written: " + reason(e), e);
      }
    }
    pending.clear();
  }

  /** Makes every target an empty file that was not there, or none of them. */
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
        // Hours of work may be in them.
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

  /** Why, without the path that Java puts first. */
  private static String reason(Exception e) {
    Throwable cause = e instanceof UncheckedIOException ? e.getCause() : e;
    if (cause instanceof FileSystemException f && f.getReason() != null) {
      return f.getReason();
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  @Override
  public void close() {
    for (Path temporary : pending.values()) {
      // One that cannot be deleted must not hide why it is not wanted.
      temporary.toFile().delete();
    }
  }
}
