/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import java.nio.ByteBuffer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;

/**
 * The driver calls of the backend, each returning the driver's code. Tests replace this interface
 * to inject failures on machines without a device.
 */
public interface CudaCalls {

  int init();

  int driverVersion(int[] version);

  int deviceCount(int[] count);

  int deviceName(int device, byte[] name);

  int deviceMemory(int device, long[] bytes);

  int deviceAttribute(int device, int attribute, int[] value);

  /** Retains the primary context and keeps its handle. */
  int primaryContextRetain(int device);

  int primaryContextRelease(int device);

  /** Makes the retained primary context of the device current in this thread. */
  int contextSetCurrent(int device);

  /** Whether a device can read and write the memory of another: can[0] is 1. */
  int canAccessPeer(int[] can, int device, int peer);

  /** Lets the current context read and write what the retained context of another device holds. */
  int enablePeerAccess(int peer);

  int memoryInfo(long[] free, long[] total);

  int memoryAllocate(CUdeviceptr address, long bytes);

  int memoryFree(CUdeviceptr address);

  /** Page-locked host memory; the handle is wrapped in {@code memory}. */
  int hostAllocate(HostMemory memory, long bytes);

  int hostFree(HostMemory memory);

  /** The address by which kernels reach page-locked memory. */
  int hostDeviceAddress(CUdeviceptr address, HostMemory memory);

  int copyToDeviceAsync(
      CUdeviceptr to, HostMemory from, long fromOffset, long bytes, CUstream stream);

  int copyToHostAsync(HostMemory to, long toOffset, CUdeviceptr from, long bytes, CUstream stream);

  int setAsync(CUdeviceptr address, byte value, long bytes, CUstream stream);

  int streamCreate(CUstream stream, int priority);

  int streamSynchronize(CUstream stream);

  int streamWaitEvent(CUstream stream, CUevent event);

  int streamDestroy(CUstream stream);

  int eventCreate(CUevent event, boolean timing);

  int eventRecord(CUevent event, CUstream stream);

  int eventSynchronize(CUevent event);

  int eventElapsed(float[] milliseconds, CUevent from, CUevent to);

  int eventDestroy(CUevent event);

  int moduleLoad(CUmodule module, byte[] image);

  int moduleFunction(CUfunction function, CUmodule module, String name);

  int moduleUnload(CUmodule module);

  int functionAttribute(CUfunction function, int attribute, int value);

  /** How many blocks of a function a multiprocessor runs at the same time: blocks[0]. */
  int residentBlocks(int[] blocks, CUfunction function, int threads, int sharedBytes);

  /** Launches a grid of blocks with the parameters stage (by value) and first task. */
  int launch(
      CUfunction function,
      int blocks,
      int threads,
      int sharedBytes,
      CUstream stream,
      ByteBuffer stage,
      long first);

  /** The driver's name for a code, or its number. */
  String errorName(int code);

  /** Page-locked memory and its view. */
  @SuppressWarnings("NullAway.Init") // set by hostAllocate
  final class HostMemory {
    jcuda.Pointer pointer;
    public ByteBuffer view;
  }
}
