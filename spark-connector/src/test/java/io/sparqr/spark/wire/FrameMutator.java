/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;

/** Makes wrong frames from right ones. The random numbers determine everything. */
final class FrameMutator {

  private final Random random;
  private final StringBuilder history = new StringBuilder();

  FrameMutator(Random random) {
    this.random = random;
  }

  /** The change, for a failure's message. */
  @Override
  public String toString() {
    return history.toString();
  }

  /** One to three changes; the frame itself stays as it is. */
  byte[] mutate(byte[] frame, byte[] donor) {
    byte[] bytes = frame.clone();
    for (int k = 1 + random.nextInt(3); k > 0; k--) {
      bytes = once(bytes, donor);
    }
    return bytes;
  }

  private byte[] once(byte[] bytes, byte[] donor) {
    return switch (random.nextInt(8)) {
      case 0, 1 -> flip(bytes);
      case 2 -> truncate(bytes);
      case 3 -> extend(bytes);
      case 4 -> splice(bytes, donor);
      default -> resize(bytes);
    };
  }

  private byte[] flip(byte[] bytes) {
    for (int k = 1 + random.nextInt(4); k > 0 && bytes.length > 0; k--) {
      int at = place(bytes.length);
      bytes[at] ^= (byte) (1 << random.nextInt(8));
      history.append(" flip@").append(at);
    }
    return bytes;
  }

  /** Near the beginning, where the counts are, in one case of two. */
  private int place(int length) {
    return random.nextInt(random.nextBoolean() ? Math.min(length, 64) : length);
  }

  private byte[] truncate(byte[] bytes) {
    int length = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
    history.append(" cut@").append(length);
    return Arrays.copyOf(bytes, length);
  }

  private byte[] extend(byte[] bytes) {
    int more = 1 + random.nextInt(40);
    byte[] longer = Arrays.copyOf(bytes, bytes.length + more);
    if (random.nextBoolean()) {
      for (int k = bytes.length; k < longer.length; k++) {
        longer[k] = (byte) random.nextInt();
      }
    }
    history.append(" extend+").append(more);
    return longer;
  }

  /** A piece of another frame in the place of a piece of this one. */
  private byte[] splice(byte[] bytes, byte[] donor) {
    if (bytes.length == 0) {
      return bytes;
    }
    int at = random.nextInt(bytes.length);
    int out = random.nextInt(bytes.length - at + 1);
    int from = random.nextInt(donor.length);
    int count = random.nextBoolean() ? out : random.nextInt(donor.length - from + 1);
    count = Math.min(count, donor.length - from);
    byte[] spliced = new byte[bytes.length - out + count];
    System.arraycopy(bytes, 0, spliced, 0, at);
    System.arraycopy(donor, from, spliced, at, count);
    System.arraycopy(bytes, at + out, spliced, at + count, bytes.length - at - out);
    history.append(" splice@").append(at).append('-').append(out).append('+').append(count);
    return spliced;
  }

  /** Replaces an int by another number. */
  private byte[] resize(byte[] bytes) {
    if (bytes.length < 4) {
      return bytes;
    }
    int at = random.nextInt(4) == 0 ? random.nextInt(bytes.length - 3) : place(bytes.length - 3);
    at = random.nextInt(4) == 0 ? at : at / 4 * 4;
    ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int old = b.getInt(at);
    int[] values = {
      0,
      -1,
      Integer.MAX_VALUE,
      Integer.MIN_VALUE,
      old + 1,
      old - 1,
      -old,
      2 * old,
      bytes.length,
      bytes.length / 4,
      bytes.length / 8,
      1 << random.nextInt(31),
      (1 << 29) + 1,
      Integer.MAX_VALUE / 8,
      random.nextInt(),
      random.nextInt(100)
    };
    int value = values[random.nextInt(values.length)];
    b.putInt(at, value);
    // Java's own streams have the other byte order
    if (random.nextInt(8) == 0) {
      b.putInt(at, Integer.reverseBytes(value));
    }
    history.append(" int@").append(at).append('=').append(value);
    return bytes;
  }

  /** A right checksum, and in three of four cases a right length, so that the body is looked at. */
  byte[] seal(byte[] bytes) {
    if (bytes.length < Frame.HEADER) {
      return bytes;
    }
    ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (random.nextInt(4) > 0) {
      b.putInt(12, bytes.length);
    }
    history.append(" sealed");
    return Frame.seal(b);
  }
}
