/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import io.sparqr.backend.cuda.resident.DeviceSession;
import java.nio.charset.StandardCharsets;
import jcuda.driver.CUdevice_attribute;

/**
 * A device in use by this JVM: its primary context retained, the kernels loaded. One per {@link
 * DeviceSession}.
 */
public final class CudaDevice implements AutoCloseable {

  /** CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED. */
  private static final int ALREADY_ENABLED = 704;

  private final CudaDriver driver;
  private final int ordinal;
  private final String chip;
  private final String name;
  private final int multiprocessors;
  private CudaModule module;
  private boolean closed;

  /**
   * Opens a device.
   *
   * @param image the kernels, for this device
   */
  public CudaDevice(CudaDriver driver, int ordinal, KernelImage image) {
    this.driver = driver;
    this.ordinal = ordinal;
    chip = chip(driver, ordinal);
    name =
        String.format(
            "%s (%04x:%02x:%02x)",
            chip,
            attribute(driver, ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
            attribute(driver, ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
            attribute(driver, ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    multiprocessors =
        attribute(driver, ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    driver.check("cuDevicePrimaryCtxRetain", driver.calls().primaryContextRetain(ordinal));
    LiveResources.opened(LiveResources.Kind.CONTEXT);
    try {
      bind();
      module = new CudaModule(driver, image);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Such as "NVIDIA H200"; opens nothing. */
  public static String chip(CudaDriver driver, int ordinal) {
    byte[] text = new byte[256];
    driver.check("cuDeviceGetName", driver.calls().deviceName(ordinal, text));
    int length = 0;
    while (length < text.length && text[length] != 0) {
      length++;
    }
    return new String(text, 0, length, StandardCharsets.UTF_8);
  }

  public static int attribute(CudaDriver driver, int ordinal, int attribute) {
    int[] value = {0};
    driver.check("cuDeviceGetAttribute", driver.calls().deviceAttribute(ordinal, attribute, value));
    return value[0];
  }

  /** A device's compute capability times 10: 90 for 9.0. */
  public static int capability(CudaDriver driver, int ordinal) {
    return 10
            * attribute(
                driver, ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        + attribute(
            driver, ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  }

  /** Makes the context current in the calling thread; every thread starts with it. */
  public void bind() {
    driver.check("cuCtxSetCurrent", driver.calls().contextSetCurrent(ordinal));
  }

  public CudaDriver driver() {
    return driver;
  }

  public CudaModule module() {
    return module;
  }

  /** Such as "NVIDIA H200". */
  public String chip() {
    return chip;
  }

  /** The chip and its PCI address, which tells devices of one host from each other. */
  public String name() {
    return name;
  }

  public int multiprocessors() {
    return multiprocessors;
  }

  /** Its number in this JVM. */
  public int ordinal() {
    return ordinal;
  }

  /** Whether kernels on this device can read and write the memory of another, or of itself. */
  public boolean reaches(CudaDevice other) {
    if (other.ordinal == ordinal) {
      return true;
    }
    int[] can = {0};
    driver.check(
        "cuDeviceCanAccessPeer", driver.calls().canAccessPeer(can, ordinal, other.ordinal));
    return can[0] != 0;
  }

  /** Lets kernels on this device read and write the memory of another, from now on. Idempotent. */
  public void reach(CudaDevice other) {
    if (other.ordinal == ordinal) {
      return;
    }
    bind();
    int code = driver.calls().enablePeerAccess(other.ordinal);
    if (code != ALREADY_ENABLED) {
      driver.check("cuCtxEnablePeerAccess", code);
    }
  }

  /** Free device memory in bytes. */
  public long freeBytes() {
    return memory()[0];
  }

  /** All device memory in bytes. */
  public long totalBytes() {
    return memory()[1];
  }

  private long[] memory() {
    long[] free = {0};
    long[] total = {0};
    driver.check("cuMemGetInfo", driver.calls().memoryInfo(free, total));
    return new long[] {free[0], total[0]};
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (module != null) {
        module.close();
      }
      LiveResources.closed(LiveResources.Kind.CONTEXT);
      driver.check("cuDevicePrimaryCtxRelease", driver.calls().primaryContextRelease(ordinal));
    }
  }
}
