/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The header of a .npy file (NumPy Enhancement Proposal 1; versions 1 to 3): six magic bytes, the
 * version, the length of the text that follows, and a Python dictionary with the type, the order
 * and the shape.
 *
 * @param type of the numbers, unless it is text
 * @param textBytes bytes of a text element, if it is text
 * @param order of the bytes
 * @param byColumns whether the first index varies fastest
 * @param shape sizes of the dimensions
 */
record NumpyHeader(
    @Nullable NumberType type, int textBytes, ByteOrder order, boolean byColumns, long[] shape) {

  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

  /** NumPy itself refuses longer ones, as they may be made to exhaust a parser. */
  private static final int LONGEST = 10_000;

  private static final Pattern TYPE = Pattern.compile("'descr'\\s*:\\s*('([^']*)'|[\\[(])");
  private static final Pattern ORDER = Pattern.compile("'fortran_order'\\s*:\\s*(True|False)\\b");
  private static final Pattern SHAPE = Pattern.compile("'shape'\\s*:\\s*\\(([0-9L,\\s]*)\\)");
  private static final Pattern CODE = Pattern.compile("([<>|=]?)([a-zA-Z?])(\\d{0,9})");

  /** Whether a file that begins like this is a .npy file. */
  static boolean begins(byte[] first) {
    return Arrays.mismatch(first, MAGIC) == MAGIC.length || Arrays.equals(first, MAGIC);
  }

  static NumpyHeader read(NumberInput in) throws IOException {
    in.order(ByteOrder.LITTLE_ENDIAN);
    byte[] magic = in.bytes(MAGIC.length, "the .npy magic number");
    if (!Arrays.equals(magic, MAGIC)) {
      throw in.malformed("no .npy array, its magic number is missing");
    }
    int version = in.unsignedShort("the .npy version") & 0xff;
    if (version < 1 || version > 3) {
      throw in.malformed(".npy version " + version + " is not one of 1, 2, 3");
    }
    String length = "the length of the .npy header";
    long bytes = version == 1 ? in.unsignedShort(length) : in.unsignedInt(length);
    if (bytes > LONGEST) {
      throw in.malformed("a .npy header of " + bytes + " bytes");
    }
    String text = NumberInput.printable(in.bytes((int) bytes, "the .npy header"));
    Matcher order = ORDER.matcher(text);
    Matcher shape = SHAPE.matcher(text);
    if (!order.find() || !shape.find()) {
      throw in.malformed("the .npy header lacks 'fortran_order' or 'shape'");
    }
    return typed(in, text, order.group(1).equals("True"), sizes(in, shape.group(1)));
  }

  private static long[] sizes(NumberInput in, String text) {
    String[] words =
        Arrays.stream(text.replace("L", "").split(",", -1))
            .map(String::strip)
            .filter(w -> !w.isEmpty())
            .toArray(String[]::new);
    long[] sizes = new long[words.length];
    long product = 1;
    for (int k = 0; k < words.length; k++) {
      if (!words[k].matches("\\d{1,18}")) {
        throw in.malformed("'" + words[k] + "' is not the size of a dimension");
      }
      sizes[k] = Long.parseLong(words[k]);
      if (Math.multiplyHigh(product, sizes[k]) != 0 || product * sizes[k] < 0) {
        throw in.malformed("an array of shape (" + text + ") is too large");
      }
      product *= sizes[k];
    }
    return sizes;
  }

  private static NumpyHeader typed(NumberInput in, String text, boolean byColumns, long[] shape) {
    Matcher type = TYPE.matcher(text);
    if (!type.find()) {
      throw in.malformed("the .npy header lacks 'descr'");
    }
    if (type.group(2) == null) {
      throw in.malformed("a structured array; plain numbers are read");
    }
    Matcher code = CODE.matcher(type.group(2));
    if (!code.matches()) {
      throw in.malformed("'" + type.group(2) + "' is not a type of numbers");
    }
    ByteOrder order = code.group(1).equals(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    int size = code.group(3).isEmpty() ? 0 : Integer.parseInt(code.group(3));
    char kind = code.group(2).charAt(0);
    if (kind == 'S' || kind == 'U') {
      return new NumpyHeader(null, kind == 'S' ? size : 4 * size, order, byColumns, shape);
    }
    return new NumpyHeader(number(in, kind, size), 0, order, byColumns, shape);
  }

  private static NumberType number(NumberInput in, char kind, int size) {
    String name =
        String.valueOf(kind).toLowerCase(Locale.ROOT).equals(String.valueOf(kind))
            ? kind + "" + size
            : "";
    return switch (name) {
      case "b1", "u1" -> NumberType.UINT8;
      case "i1" -> NumberType.INT8;
      case "i2" -> NumberType.INT16;
      case "u2" -> NumberType.UINT16;
      case "i4" -> NumberType.INT32;
      case "u4" -> NumberType.UINT32;
      case "i8" -> NumberType.INT64;
      case "u8" -> NumberType.UINT64;
      case "f2" -> NumberType.FLOAT16;
      case "f4" -> NumberType.FLOAT32;
      case "f8" -> NumberType.FLOAT64;
      case "c8", "c16", "c32" ->
          throw in.malformed("complex numbers are not supported (real ones and integers are)");
      default -> {
        boolean objects = kind == 'O';
        throw in.malformed(
            objects
                ? "Python objects, which are not read (plain numbers are)"
                : "numbers of type '" + kind + size + "' are not read (up to 64 bits they are)");
      }
    };
  }

  /** Number of elements. */
  long count() {
    long count = 1;
    for (long s : shape) {
      count *= s;
    }
    return count;
  }
}
