/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Files in a folder that Spark works in. Its cleaner and its executors delete theirs whenever they
 * come to it, so that a file may be gone before it is looked at.
 */
final class SparkFiles {

  private SparkFiles() {}

  /** All files below {@code folder} whose names begin with {@code prefix}. */
  static List<Path> below(Path folder, String prefix) throws IOException {
    var found = new ArrayList<Path>();
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.getFileName().toString().startsWith(prefix)) {
              found.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            return passed(e);
          }

          @Override
          public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
            return e == null ? FileVisitResult.CONTINUE : passed(e);
          }
        });
    return found;
  }

  private static FileVisitResult passed(IOException e) throws IOException {
    if (e instanceof NoSuchFileException) {
      return FileVisitResult.CONTINUE;
    }
    throw e;
  }

  /** Deletes these files and says how many there still were. */
  static long delete(List<Path> files) throws IOException {
    long deleted = 0;
    for (Path file : files) {
      if (Files.deleteIfExists(file)) {
        deleted++;
      }
    }
    return deleted;
  }
}
