/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.python;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Calls for Py4J. An array of doubles costs it one round trip an element, an array of bytes one in
 * all.
 */
public final class PythonSupport {

  /** Elements of one message: Py4J sends bytes as base64 in one string. */
  private static final int MOST = 1 << 24;

  private PythonSupport() {}

  /** Number of messages that an array takes. */
  public static int parts(double[] values) {
    return values.length == 0 ? 0 : 1 + (values.length - 1) / MOST;
  }

  /** The part-th message of an array: IEEE 754 doubles, little endian. */
  public static byte[] bytes(double[] values, int part) {
    int from = Math.multiplyExact(part, MOST);
    double[] some = Arrays.copyOfRange(values, from, Math.min(values.length, from + MOST));
    ByteBuffer buffer = ByteBuffer.allocate(8 * some.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asDoubleBuffer().put(some);
    return buffer.array();
  }

  /** Number of messages that an array takes. */
  public static int parts(int[] values) {
    return values.length == 0 ? 0 : 1 + (values.length - 1) / MOST;
  }

  /** The part-th message of an array: int32, little endian. */
  public static byte[] bytes(int[] values, int part) {
    int from = Math.multiplyExact(part, MOST);
    int[] some = Arrays.copyOfRange(values, from, Math.min(values.length, from + MOST));
    ByteBuffer buffer = ByteBuffer.allocate(4 * some.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asIntBuffer().put(some);
    return buffer.array();
  }

  /** Strings as an array: Java's variable arguments. */
  public static String[] array(List<String> strings) {
    return strings.toArray(new String[0]);
  }
}
