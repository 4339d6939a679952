/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import scala.jdk.javaapi.CollectionConverters;
import scala.tools.nsc.Global;
import scala.tools.nsc.Settings;
import scala.tools.nsc.reporters.ConsoleReporter;

/** Scala that a user might write, compiled against the class path of the tests. */
public final class ScalaSource {

  private ScalaSource() {}

  /**
   * Compiles one file.
   *
   * @param folder for the source and its class files
   * @return what the compiler says against it; empty: it compiles
   */
  public static String errors(Path folder, String name, String source) throws IOException {
    Path file = Files.writeString(folder.resolve(name + ".scala"), source);
    var settings = new Settings();
    var options = List.of("-d", folder.toString(), "-cp", System.getProperty("java.class.path"));
    settings.processArguments(CollectionConverters.asScala(options).toList(), true);
    var said = new StringWriter();
    var nothing = new BufferedReader(new StringReader(""));
    var reporter = new ConsoleReporter(settings, nothing, new PrintWriter(said, true));
    var run = new Global(settings, reporter).new Run();
    run.compile(CollectionConverters.asScala(List.of(file.toString())).toList());
    reporter.finish();
    return reporter.hasErrors() ? said + "errors" : "";
  }
}
