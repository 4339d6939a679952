/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * A Java agent that lets the first executor JVM start and holds back the others until they are
 * released, so that they register late, as on a busy cluster.
 */
public final class LateStart {

  private static final String GO = "go";
  private static final long MOST_MILLIS = 100_000;

  private LateStart() {}

  /** Called by the JVM before main; the argument is a folder. */
  public static void premain(String folder) throws IOException, InterruptedException {
    try {
      Files.createDirectory(Path.of(folder, "first"));
    } catch (FileAlreadyExistsException e) {
      long end = System.currentTimeMillis() + MOST_MILLIS;
      while (!Files.exists(Path.of(folder, GO)) && System.currentTimeMillis() < end) {
        Thread.sleep(50);
      }
    }
  }

  /** The option of an executor's JVM. */
  static String option(Path folder) throws IOException {
    Path jar = folder.resolve("late.jar");
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", LateStart.class.getName());
    String entry = LateStart.class.getName().replace('.', '/') + ".class";
    try (OutputStream out = Files.newOutputStream(jar);
        var writer = new JarOutputStream(out, manifest);
        var in = LateStart.class.getClassLoader().getResourceAsStream(entry)) {
      writer.putNextEntry(new JarEntry(entry));
      in.transferTo(writer);
      writer.closeEntry();
    }
    return "-javaagent:" + jar + "=" + folder;
  }

  /** Lets the others start. */
  static void letGo(Path folder) {
    try {
      Files.createFile(folder.resolve(GO));
    } catch (FileAlreadyExistsException e) {
      // they have been released already
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
