/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.LocalSpark;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;

/** A command line run in this JVM, with what it printed. */
public record CliRun(int code, String out, String err) {

  public static CliRun of(Object... arguments) {
    List<String> args = new ArrayList<>();
    for (Object a : arguments) {
      args.add(a.toString());
    }
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        SparqrCli.execute(
            new PrintWriter(out, true), new PrintWriter(err, true), args.toArray(new String[0]));
    return new CliRun(code, out.toString(), err.toString());
  }

  /** Lines of standard error that report the error. */
  public List<String> errors() {
    return err.lines().filter(l -> l.startsWith("sparqr: ")).toList();
  }

  /** A session that the runs of a test class share. */
  public static SparkSession session() {
    return LocalSpark.session();
  }
}
