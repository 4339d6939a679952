/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.configuration.Keys;
import io.sparqr.configuration.Mounts;
import io.sparqr.configuration.PrivateFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;

/**
 * What netlib's copy in {@link NetlibLoader} calls in place of {@link Files}, to write the library
 * that it loads: the temporary folder of a JVM cannot be changed once it runs, and native code may
 * not be run from there if it is mounted noexec.
 */
public final class NativeFiles {

  private NativeFiles() {}

  /** A new empty file, among the temporary ones only if native code may be run from there. */
  public static Path createTempFile(String prefix, String suffix, FileAttribute<?>... attributes)
      throws IOException {
    return elsewhere()
        ? Files.createTempFile(PrivateFolder.open().path(), prefix, suffix, attributes)
        : Files.createTempFile(prefix, suffix, attributes);
  }

  /** As {@link Files#copy(InputStream, Path, CopyOption...)}. */
  public static long copy(InputStream in, Path target, CopyOption... options) throws IOException {
    return Files.copy(in, target, options);
  }

  /** Whether the usual folder of temporary files is not wanted, or cannot be used. */
  private static boolean elsewhere() {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    return Keys.NATIVE_FOLDER.find(System::getProperty).isPresent()
        || Mounts.ofThisProcess().noexec(temporary).isPresent();
  }
}
