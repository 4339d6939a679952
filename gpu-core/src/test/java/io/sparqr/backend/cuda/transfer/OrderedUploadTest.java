/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.CudaException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Task lists reach their places before a launch needs them; needs no device. */
@Timeout(60)
class OrderedUploadTest {

  private static final int PIECE = 4_000;

  private static final StageProgram PROGRAM = FirstStage.of("gen:cells3d12");

  private final StageSchedule schedule = PROGRAM.schedule();

  /** The memory of a device whose copies are done at once. */
  private final byte[] device = new byte[Math.toIntExact(TaskLayout.TASK_BYTES * schedule.tasks())];

  private int copies;
  private int waits;

  /** What a stream that waits sees: the memory at the time of the call. */
  private byte[] seen = new byte[0];

  private byte[] expected() {
    byte[] bytes = new byte[device.length];
    schedule.write(0, schedule.rounds(), ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    return bytes;
  }

  /**
   * Calls of a device without kernels.
   *
   * @param failing number of the copy that fails; 0: none
   */
  private CudaDriver driver(int failing) {
    Pattern offset = Pattern.compile("byteOffset=(\\d+)");
    return new CudaDriver(
        FaultyCalls.of(
            null,
            (call, a) -> {
              switch (call) {
                case "hostAllocate" ->
                    ((CudaCalls.HostMemory) a[0]).view =
                        ByteBuffer.allocateDirect((int) (long) a[1]).order(ByteOrder.nativeOrder());
                case "copyToDeviceAsync" -> {
                  if (++copies == failing) {
                    return 1;
                  }
                  var at = offset.matcher(a[0].toString());
                  assertThat(at.find()).isTrue();
                  ((CudaCalls.HostMemory) a[1])
                      .view
                      .duplicate()
                      .get(device, Integer.parseInt(at.group(1)), (int) (long) a[3]);
                  if (copies == 2) {
                    // other pieces overtake the writer of this one
                    sleep();
                  }
                }
                case "streamWaitEvent" -> {
                  waits++;
                  seen = device.clone();
                }
                default -> {}
              }
              return null;
            }));
  }

  private static void sleep() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Work with an upload of the program's lists. */
  private interface Use {
    void of(OrderedUpload upload, CudaStream stream);
  }

  private void use(int failing, Use use) {
    long before = LiveResources.total();
    CudaDriver driver = driver(failing);
    try (var session = new DeviceSession(driver, 0, new KernelImage(part -> new byte[0]));
        var workers = new Workers(session.device(), 3);
        var transfers = new Transfers(driver, session.pinned());
        var stream = new CudaStream(driver);
        var target = new DeviceBuffer(driver, device.length)) {
      use.of(new OrderedUpload(transfers).tasks(target, schedule, PIECE).start(workers), stream);
    }
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void allListsAreInTheirPlacesWhenTheyAreNeeded() {
    byte[] expected = expected();
    use(
        0,
        (upload, stream) -> {
          try (upload) {
            for (int r = 0; r < schedule.rounds(); r++) {
              upload.await(r, stream);
              int end = Math.toIntExact(TaskLayout.TASK_BYTES * schedule.roundStart(r + 1));
              assertThat(Arrays.copyOf(seen, end))
                  .as("round %d", r)
                  .isEqualTo(Arrays.copyOf(expected, end));
            }
          }
          assertThat(upload.bytes()).isEqualTo(device.length);
        });
    assertThat(copies).isGreaterThan(5);
    assertThat(waits).isPositive();
    assertThat(device).isEqualTo(expected);
  }

  @Test
  void aPieceThatCannotBeSentIsReportedToWhoeverWaits() {
    for (int failing : new int[] {1, 3}) {
      copies = 0;
      use(
          failing,
          (upload, stream) -> {
            assertThatThrownBy(() -> upload.await(schedule.rounds() - 1, stream))
                .isInstanceOf(CudaException.class)
                .hasMessageContaining("cuMemcpyHtoDAsync");
            assertThatThrownBy(upload::close).isInstanceOf(CudaException.class);
          });
    }
  }
}
