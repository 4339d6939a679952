/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.transfer.ListUpload;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a device needs besides the memory of its stage if others take part in it: the places of all
 * devices' parts, its words of announcements, and its descriptors. (The stage's memory has the
 * descriptors of the stage on one device, by which the first device sums columns.) The buffer is
 * kept between stages and grows.
 *
 * <pre>
 * SparqrPeer by device | announcements, 8 bytes a front | descriptors
 * </pre>
 */
final class PeerMemory implements AutoCloseable {

  private static final int ALIGN = 256;

  private final DeviceLane lane;
  private @Nullable DeviceBuffer buffer;
  private long announcedAt;
  private long frontsAt;

  PeerMemory(DeviceLane lane) {
    this.lane = lane;
  }

  /** Makes room; the lane's context is current. Returns true if what was there is lost. */
  boolean reserve(StageProgram program, int devices) {
    announcedAt = aligned((long) devices * StageMemory.PEER_BYTES);
    frontsAt = announcedAt + aligned(8L * program.fronts());
    long need = frontsAt + program.descriptors().capacity();
    if (buffer != null && buffer.bytes() >= need) {
      return false;
    }
    close();
    buffer = new DeviceBuffer(lane.device().driver(), need);
    return true;
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
  }

  private DeviceBuffer buffer() {
    if (buffer == null) {
      throw new IllegalStateException("no stage has been prepared");
    }
    return buffer;
  }

  long peers() {
    return buffer().address();
  }

  long announced() {
    return buffer().address() + announcedAt;
  }

  long fronts() {
    return buffer().address() + frontsAt;
  }

  /** Enqueues that nothing has been announced. */
  void clear(StageProgram program) {
    lane.compute().fill(buffer().at(announcedAt), (byte) 0, 8L * program.fronts());
  }

  /** Sends this device's descriptors; waits for their arrival. */
  void sendFronts(StageProgram program) {
    new ListUpload(lane.transfers(), buffer())
        .bytes(frontsAt, program.descriptors().duplicate().clear())
        .run(lane.workers());
  }

  /**
   * Sends the places of all devices' parts, which may be others in each run; waits for their
   * arrival.
   */
  void sendPlaces(List<DeviceLane> lanes, List<PeerMemory> all) {
    ByteBuffer peers =
        ByteBuffer.allocate(all.size() * StageMemory.PEER_BYTES).order(ByteOrder.nativeOrder());
    for (int d = 0; d < all.size(); d++) {
      lanes.get(d).memory().peer(peers, all.get(d).fronts(), all.get(d).announced());
    }
    new ListUpload(lane.transfers(), buffer()).bytes(0, peers.flip()).run(lane.workers());
  }

  @Override
  public void close() {
    if (buffer != null) {
      DeviceBuffer old = buffer;
      buffer = null;
      old.close();
    }
  }
}
