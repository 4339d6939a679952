/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** Java that a user might write, compiled against the class path of the tests. */
public final class JavaSource {

  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  /** One for all: to read the directories of two hundred jars takes most of the time. */
  private static StandardJavaFileManager manager;

  private static synchronized StandardJavaFileManager files() throws IOException {
    if (manager == null) {
      manager = COMPILER.getStandardFileManager(null, null, null);
      manager.setLocationFromPaths(
          StandardLocation.CLASS_PATH,
          Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
              .map(Path::of)
              .toList());
    }
    return manager;
  }

  private JavaSource() {}

  /**
   * Compiles one class.
   *
   * @param folder for the source and its class file
   * @param name of the class
   * @return what the compiler says against it; empty: it compiles
   */
  public static String errors(Path folder, String name, String source) throws IOException {
    Path file = Files.writeString(folder.resolve(name + ".java"), source);
    StandardJavaFileManager files = files();
    files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(folder));
    var said = new StringWriter();
    boolean right =
        COMPILER
            .getTask(said, files, null, List.of("-proc:none"), null, files.getJavaFileObjects(file))
            .call();
    return right ? "" : said + "it does not compile";
  }
}
