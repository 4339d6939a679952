/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.DeviceSessions;
import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.transfer.PinnedPool;
import io.sparqr.backend.staged.layout.DeviceStage;
import io.sparqr.backend.staged.layout.KeptPlans;
import io.sparqr.backend.staged.layout.PreparedTask;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.FatalCudaException;
import java.util.function.Consumer;

/**
 * The resources kept between a JVM's tasks on one device: the context, the loaded kernels and
 * page-locked buffers. Creating them takes 0.15 s, longer than many tasks. Device memory is not
 * kept, because other processes share the device, except for rows of R for later solves ({@link
 * Residents}). Handed out by {@link DeviceSessions}.
 */
public final class DeviceSession implements AutoCloseable {

  /** Page-locked bytes kept between tasks. */
  private static final long KEPT_PINNED_BYTES = 1L << 30;

  /** Page-locked buffers of the smallest size to begin with: 256 MiB. */
  private static final int FIRST_BUFFERS = 32;

  /**
   * A stage that several devices share.
   *
   * @param among from how many the plan chose, this one first
   */
  public record SharedStage(DeviceStage stage, int among) {

    /** Whether it is the stage of that program, from as many devices. */
    @SuppressWarnings("ReferenceEquality") // a plan has its own
    public boolean serves(StageProgram program, int devices) {
      return stage.one() == program && among == devices;
    }
  }

  private final CudaDevice device;
  private final PinnedPool pinned;
  private final Residents residents = new Residents();
  private final KeptPlans<PreparedTask> plans = new KeptPlans<>();
  private final KeptPlans<SharedStage> stages = new KeptPlans<>();
  private Consumer<FatalCudaException> onLost = e -> {};
  private boolean closed;

  public DeviceSession(CudaDriver driver, int ordinal, KernelImage image) {
    device = new CudaDevice(driver, ordinal, image);
    pinned = new PinnedPool(driver);
  }

  public CudaDevice device() {
    return device;
  }

  public PinnedPool pinned() {
    return pinned;
  }

  /** The rows of R that stay on the device. */
  public Residents residents() {
    return residents;
  }

  /** What tasks of this device leave to later ones of the same structure. */
  public KeptPlans<PreparedTask> plans() {
    return plans;
  }

  /** Stages of {@link #plans} that this device and others share. */
  public KeptPlans<SharedStage> stages() {
    return stages;
  }

  /** Sets what is done when the context is lost. */
  public void onLost(Consumer<FatalCudaException> action) {
    onLost = action;
  }

  /** To be called by users without a lease, after a sticky error. */
  void lost(FatalCudaException error) {
    onLost.accept(error);
  }

  /** Takes the page-locked buffers of a first task, which cost it a tenth of a second otherwise. */
  public void prepare() {
    device.bind();
    pinned.fill(FIRST_BUFFERS);
  }

  /** Called between tasks: releases buffers beyond the limit. */
  public void rest() {
    device.bind();
    pinned.trim(KEPT_PINNED_BYTES);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      device.bind();
      plans.clear();
      stages.clear();
      residents.close();
      pinned.close();
      device.close();
    }
  }
}
