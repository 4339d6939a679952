/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.WireFormatException;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Plans as frames, for tests of other packages. */
public final class PlanFrames {

  private PlanFrames() {}

  /** Plans of different shape, each of one frame. */
  public static List<byte[]> frames() {
    return PlanCodecTest.plans().stream().map(p -> encode(p).get(0)).toList();
  }

  /** A plan's frames. */
  static List<byte[]> encode(SolvePlan plan) {
    var frames = new ArrayList<byte[]>();
    try {
      PlanCodec.write(plan, frames::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return frames;
  }

  /** Decodes one frame as an executor does. */
  public static SolvePlan decode(byte[] frame) {
    return decode(List.of(frame));
  }

  /** Decodes frames as an executor does. */
  static SolvePlan decode(List<byte[]> frames) {
    Iterator<byte[]> it = frames.iterator();
    try {
      return PlanCodec.read(
          () -> {
            if (!it.hasNext()) {
              throw new EOFException();
            }
            return it.next();
          });
    } catch (EOFException e) {
      throw new WireFormatException("a frame is missing", "frames");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
