/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.backend.OpenDevice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.plan.DeviceVerdict;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the first device of this JVM on a thread of its own, beside the phases of a solve that need
 * no device: its context, the kernels and the first page-locked buffers take a first solve half a
 * second. The task that needs the device waits for that, or opens it itself; a failure here is
 * therefore only a line in the debug log, and the task's own is the solve's. Nothing is opened for
 * a problem that stays on the CPU.
 */
public final class DeviceOpening implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DeviceOpening.class);

  private final boolean local;
  private final Backends.Cuda cuda;

  /** Once it is open. */
  private @Nullable OpenDevice held;

  private boolean begun;
  private boolean closed;

  /** For one solve or warm-up; nothing is ever opened unless the tasks run in this JVM. */
  public DeviceOpening(Engine engine) {
    this(engine.oneJvm(), Backends.cuda());
  }

  DeviceOpening(boolean local, Backends.Cuda cuda) {
    this.local = local;
    this.cuda = cuda;
  }

  /** Begins to open the device if the problem goes to one; only the first such call does. */
  public void consider(DeviceVerdict verdict) {
    if (verdict.use()) {
      begin();
    }
  }

  private synchronized void begin() {
    if (!local || begun || closed || cuda.obstacle().isPresent()) {
      return;
    }
    begun = true;
    var thread = new Thread(() -> open(cuda.provider().orElseThrow()), "sparqr-device");
    thread.setDaemon(true);
    thread.start();
  }

  /** Whether a device is open, or on the way. */
  synchronized boolean begun() {
    return begun;
  }

  private void open(QrBackendProvider provider) {
    try {
      OpenDevice device = provider.open(0);
      synchronized (this) {
        if (!closed) {
          held = device;
          return;
        }
      }
      device.close();
    } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
      LOG.debug("the device was not opened ahead of its task", e);
    }
  }

  /** Lets go of the device, at the latest as soon as it is open; does not wait. Idempotent. */
  @Override
  public void close() {
    OpenDevice mine;
    synchronized (this) {
      closed = true;
      mine = held;
      held = null;
    }
    if (mine != null) {
      mine.close();
    }
  }
}
