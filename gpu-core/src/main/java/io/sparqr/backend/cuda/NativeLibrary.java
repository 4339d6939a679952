/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import jcuda.LibUtils;

/**
 * Puts JCuda's native library where JCuda's own loader looks for it, before that loader runs. The
 * loader writes the file in place and takes whatever lies there, so processes that start together
 * can map a file that is still being written. Here: one process at a time (file lock), the content
 * checked by size and hash, written under another name and moved into place atomically; a process
 * that has the old file mapped keeps it.
 */
final class NativeLibrary {

  private static final String NAME = "JCudaDriver-12.6.0";

  private NativeLibrary() {}

  /**
   * Makes sure that the file in java.io.tmpdir is the one in the jar.
   *
   * @throws UnsatisfiedLinkError if the platform has no such library or it cannot be written
   */
  static void prepare() {
    try {
      String file = LibUtils.createLibraryFileName(LibUtils.createPlatformLibraryName(NAME));
      prepare("/lib/" + file, Path.of(System.getProperty("java.io.tmpdir")), file);
    } catch (IOException | UncheckedIOException e) {
      throw linkError("cannot put the native library in java.io.tmpdir: " + e.getMessage(), e);
    }
  }

  /** The same for any resource and folder; returns true if it wrote the file. */
  static boolean prepare(String resource, Path folder, String file) throws IOException {
    byte[] content;
    try (InputStream in = LibUtils.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw linkError("no native library for this platform: " + resource, null);
      }
      content = in.readAllBytes();
    }
    Path target = folder.resolve(file);
    if (same(target, content)) {
      return false;
    }
    Path lock = folder.resolve(file + ".lock");
    synchronized (NativeLibrary.class) {
      try (FileChannel channel =
              FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          var held = channel.lock()) {
        if (held.isValid() && same(target, content)) {
          return false;
        }
        Path temporary = Files.createTempFile(folder, file, ".part");
        try {
          Files.write(temporary, content);
          if (!temporary.toFile().setReadable(true, false)) {
            throw new IOException("cannot make " + temporary + " readable");
          }
          Files.move(
              temporary,
              target,
              StandardCopyOption.ATOMIC_MOVE,
              StandardCopyOption.REPLACE_EXISTING);
        } finally {
          Files.deleteIfExists(temporary);
        }
        return true;
      }
    }
  }

  private static boolean same(Path file, byte[] content) throws IOException {
    return Files.isRegularFile(file)
        && Files.size(file) == content.length
        && Arrays.equals(hash(Files.readAllBytes(file)), hash(content));
  }

  private static byte[] hash(byte[] content) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(content);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static UnsatisfiedLinkError linkError(String message, Throwable cause) {
    var error = new UnsatisfiedLinkError(message);
    error.initCause(cause);
    return error;
  }
}
