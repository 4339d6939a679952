/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;

/** Java that a user might write, compiled against the class path of the tests. */
public final class JavaSource {

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
    var said = new ByteArrayOutputStream();
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                said,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                folder.toString(),
                file.toString());
    return code == 0 ? "" : said.toString(StandardCharsets.UTF_8) + "exit code " + code;
  }
}
