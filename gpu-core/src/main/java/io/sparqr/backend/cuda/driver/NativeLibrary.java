/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import io.sparqr.configuration.Keys;
import io.sparqr.configuration.PrivateFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import jcuda.LibUtils;
import org.jspecify.annotations.Nullable;

/**
 * Loads JCuda's native library from the user's {@link PrivateFolder}. JCuda's own loader writes the
 * file in place to the shared temporary folder and accepts any file already there: another user's,
 * or one that another process is still writing. So the file is put where no other user can write,
 * compared with the jar's byte by byte, and the loader is pointed to it. A library on {@code
 * java.library.path} still takes precedence.
 */
final class NativeLibrary {

  private static final String NAME = "JCudaDriver-12.6.0";
  private static final String DRIVER = "jcuda.driver.JCudaDriver";

  private static final String TEMPORARY = "java.io.tmpdir";

  private NativeLibrary() {}

  /**
   * Loads it, once.
   *
   * @throws UnsatisfiedLinkError if the platform has no such library, or it cannot be written or
   *     loaded
   */
  static synchronized void load() {
    try {
      PrivateFolder folder = PrivateFolder.open();
      String file = LibUtils.createLibraryFileName(LibUtils.createPlatformLibraryName(NAME));
      prepare("/lib/" + file, folder, file);
      from(folder.path(), () -> initialize(DRIVER, LibUtils.class.getClassLoader()));
    } catch (IOException | UncheckedIOException | InvalidPathException e) {
      throw linkError("cannot put the native library in place: " + e.getMessage(), e);
    }
  }

  /**
   * A library is bound to the class loader that loads it, here JCuda's, which may not be ours; only
   * this property tells JCuda's loader where to look. Any other code that reads the property
   * meanwhile gets a folder of the same user.
   */
  static void from(Path folder, Runnable loading) {
    String before = System.getProperty(TEMPORARY);
    System.setProperty(TEMPORARY, folder.toString());
    try {
      loading.run();
    } finally {
      System.setProperty(TEMPORARY, before);
    }
  }

  private static void initialize(String name, ClassLoader loader) {
    try {
      Class.forName(name, true, loader);
    } catch (ClassNotFoundException e) {
      throw new NoClassDefFoundError(e.getMessage());
    } catch (UnsatisfiedLinkError e) {
      // LibUtils names a missing library further down; a folder mounted noexec is our problem
      if (String.valueOf(e.getMessage()).contains("failed to map segment")) {
        throw linkError(
            "programs may not be run from the folder of native libraries; name another one by the"
                + " system property "
                + Keys.NATIVE_FOLDER.name(),
            e);
      }
      throw e;
    }
  }

  /** Makes sure that the file is the resource; returns true if it wrote it. */
  static boolean prepare(String resource, PrivateFolder folder, String file) throws IOException {
    try (InputStream in = LibUtils.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw linkError("no native library for this platform: " + resource, null);
      }
      return folder.put(file, in.readAllBytes());
    }
  }

  private static UnsatisfiedLinkError linkError(String message, @Nullable Throwable cause) {
    var error = new UnsatisfiedLinkError(message);
    error.initCause(cause);
    return error;
  }
}
