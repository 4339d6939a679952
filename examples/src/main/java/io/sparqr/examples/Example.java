/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import java.io.PrintStream;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/** What all examples share: a Spark session, the verdict, the exit code. */
@FunctionalInterface
interface Example {

  /** Does its work, prints the result, and returns whether the answer was right. */
  boolean run(SparkSession spark, PrintStream out);

  /** Runs an example on spark-submit's master, or on this machine's cores. */
  static void main(Example example) {
    SparkConf conf = new SparkConf().setIfMissing("spark.master", "local[*]");
    conf.setIfMissing("spark.app.name", "sparqr example");
    boolean right;
    try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
      right = example.run(spark, System.out);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    System.out.println(right ? "The answer is right." : "THE ANSWER IS WRONG.");
    if (!right) {
      System.exit(1);
    }
  }

  /** Whether two numbers agree to 1e-10 of the greater of them and 1. */
  static boolean close(double actual, double expected) {
    return Math.abs(actual - expected) <= 1e-10 * Math.max(1, Math.abs(expected));
  }
}
