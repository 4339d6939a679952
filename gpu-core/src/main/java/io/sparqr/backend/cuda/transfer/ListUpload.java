/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.DeviceBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Arrays sent to one buffer, in pieces by several threads. For a single use. */
public final class ListUpload {

  private final Transfers transfers;
  private final DeviceBuffer target;
  private final List<Consumer<Transfers.Queue>> pieces = new ArrayList<>();

  public ListUpload(Transfers transfers, DeviceBuffer target) {
    this.transfers = transfers;
    this.target = target;
  }

  /** Writes elements [from, from + count) to a buffer. */
  private interface Filler {
    void fill(ByteBuffer to, int from, int count);
  }

  /** All bytes of a list, to the target's {@code at}th byte. */
  public ListUpload bytes(long at, ByteBuffer list) {
    return add(at, list.limit(), 1, (to, from, count) -> to.put(list.slice(from, count)));
  }

  /** An array, to the target's {@code at}th byte. */
  public ListUpload array(long at, int[] array) {
    return add(at, array.length, 4, (to, from, n) -> to.asIntBuffer().put(array, from, n));
  }

  private ListUpload add(long at, int length, int size, Filler filler) {
    int step = Transfers.PIECE_BYTES / size;
    for (long k = 0; k < length; k += step) {
      int from = (int) k;
      int count = Math.min(step, length - from);
      var to = new Transfers.Slice(target, at + (long) size * from, size * count);
      pieces.add(queue -> queue.send(to, b -> filler.fill(b, from, count)));
    }
    return this;
  }

  /** Sends all and waits for their arrival. */
  public void run(Workers workers) {
    try (Transfers.Queue queue = transfers.queue()) {
      workers.run(pieces.size(), i -> pieces.get(i).accept(queue));
    }
  }
}
