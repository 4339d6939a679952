/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static jcuda.driver.JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP;
import static jcuda.driver.JCudaDriver.CU_MEMHOSTALLOC_PORTABLE;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** The real calls. Creating one loads the native library: {@link LinkageError} if that fails. */
public final class JCudaCalls implements CudaCalls {

  private final Map<Integer, CUcontext> contexts = new ConcurrentHashMap<>();

  public JCudaCalls() {
    NativeLibrary.load();
    JCudaDriver.setExceptionsEnabled(false);
  }

  @Override
  public int init() {
    return JCudaDriver.cuInit(0);
  }

  @Override
  public int driverVersion(int[] version) {
    return JCudaDriver.cuDriverGetVersion(version);
  }

  @Override
  public int deviceCount(int[] count) {
    return JCudaDriver.cuDeviceGetCount(count);
  }

  @Override
  public int deviceName(int device, byte[] name) {
    var handle = new CUdevice();
    int code = JCudaDriver.cuDeviceGet(handle, device);
    return code != 0 ? code : JCudaDriver.cuDeviceGetName(name, name.length, handle);
  }

  @Override
  public int deviceMemory(int device, long[] bytes) {
    var handle = new CUdevice();
    int code = JCudaDriver.cuDeviceGet(handle, device);
    return code != 0 ? code : JCudaDriver.cuDeviceTotalMem(bytes, handle);
  }

  @Override
  public int deviceAttribute(int device, int attribute, int[] value) {
    var handle = new CUdevice();
    int code = JCudaDriver.cuDeviceGet(handle, device);
    return code != 0 ? code : JCudaDriver.cuDeviceGetAttribute(value, attribute, handle);
  }

  @Override
  public int primaryContextRetain(int device) {
    var handle = new CUdevice();
    int code = JCudaDriver.cuDeviceGet(handle, device);
    if (code != 0) {
      return code;
    }
    var context = new CUcontext();
    code = JCudaDriver.cuDevicePrimaryCtxRetain(context, handle);
    if (code == 0) {
      contexts.put(device, context);
    }
    return code;
  }

  @Override
  public int primaryContextRelease(int device) {
    var handle = new CUdevice();
    int code = JCudaDriver.cuDeviceGet(handle, device);
    return code != 0 ? code : JCudaDriver.cuDevicePrimaryCtxRelease(handle);
  }

  @Override
  public int contextSetCurrent(int device) {
    return JCudaDriver.cuCtxSetCurrent(contexts.get(device));
  }

  @Override
  public int canAccessPeer(int[] can, int device, int peer) {
    var handle = new CUdevice();
    var other = new CUdevice();
    int code = JCudaDriver.cuDeviceGet(handle, device);
    code = code != 0 ? code : JCudaDriver.cuDeviceGet(other, peer);
    return code != 0 ? code : JCudaDriver.cuDeviceCanAccessPeer(can, handle, other);
  }

  @Override
  public int enablePeerAccess(int peer) {
    return JCudaDriver.cuCtxEnablePeerAccess(contexts.get(peer), 0);
  }

  @Override
  public int memoryInfo(long[] free, long[] total) {
    return JCudaDriver.cuMemGetInfo(free, total);
  }

  @Override
  public int memoryAllocate(CUdeviceptr address, long bytes) {
    return JCudaDriver.cuMemAlloc(address, bytes);
  }

  @Override
  public int memoryFree(CUdeviceptr address) {
    return JCudaDriver.cuMemFree(address);
  }

  @Override
  public int hostAllocate(HostMemory memory, long bytes) {
    var pointer = new Pointer();
    int code =
        JCudaDriver.cuMemHostAlloc(
            pointer, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    if (code == 0) {
      memory.pointer = pointer;
      memory.view = pointer.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
    }
    return code;
  }

  @Override
  public int hostFree(HostMemory memory) {
    return JCudaDriver.cuMemFreeHost(memory.pointer);
  }

  @Override
  public int hostDeviceAddress(CUdeviceptr address, HostMemory memory) {
    return JCudaDriver.cuMemHostGetDevicePointer(address, memory.pointer, 0);
  }

  @Override
  public int copyToDeviceAsync(
      CUdeviceptr to, HostMemory from, long fromOffset, long bytes, CUstream stream) {
    return JCudaDriver.cuMemcpyHtoDAsync(
        to, from.pointer.withByteOffset(fromOffset), bytes, stream);
  }

  @Override
  public int copyToHostAsync(
      HostMemory to, long toOffset, CUdeviceptr from, long bytes, CUstream stream) {
    return JCudaDriver.cuMemcpyDtoHAsync(to.pointer.withByteOffset(toOffset), from, bytes, stream);
  }

  @Override
  public int setAsync(CUdeviceptr address, byte value, long bytes, CUstream stream) {
    return JCudaDriver.cuMemsetD8Async(address, value, bytes, stream);
  }

  @Override
  public int streamCreate(CUstream stream, int priority) {
    return JCudaDriver.cuStreamCreateWithPriority(
        stream, CUstream_flags.CU_STREAM_NON_BLOCKING, priority);
  }

  @Override
  public int streamSynchronize(CUstream stream) {
    return JCudaDriver.cuStreamSynchronize(stream);
  }

  @Override
  public int streamWaitEvent(CUstream stream, CUevent event) {
    return JCudaDriver.cuStreamWaitEvent(stream, event, 0);
  }

  @Override
  public int streamDestroy(CUstream stream) {
    return JCudaDriver.cuStreamDestroy(stream);
  }

  @Override
  public int eventCreate(CUevent event, boolean timing) {
    int flags = timing ? CUevent_flags.CU_EVENT_DEFAULT : CUevent_flags.CU_EVENT_DISABLE_TIMING;
    return JCudaDriver.cuEventCreate(event, flags);
  }

  @Override
  public int eventRecord(CUevent event, CUstream stream) {
    return JCudaDriver.cuEventRecord(event, stream);
  }

  @Override
  public int eventSynchronize(CUevent event) {
    return JCudaDriver.cuEventSynchronize(event);
  }

  @Override
  public int eventElapsed(float[] milliseconds, CUevent from, CUevent to) {
    return JCudaDriver.cuEventElapsedTime(milliseconds, from, to);
  }

  @Override
  public int eventDestroy(CUevent event) {
    return JCudaDriver.cuEventDestroy(event);
  }

  @Override
  public int moduleLoad(CUmodule module, byte[] image) {
    return JCudaDriver.cuModuleLoadData(module, image);
  }

  @Override
  public int moduleFunction(CUfunction function, CUmodule module, String name) {
    return JCudaDriver.cuModuleGetFunction(function, module, name);
  }

  @Override
  public int moduleUnload(CUmodule module) {
    return JCudaDriver.cuModuleUnload(module);
  }

  @Override
  public int functionAttribute(CUfunction function, int attribute, int value) {
    return JCudaDriver.cuFuncSetAttribute(function, attribute, value);
  }

  @Override
  public int residentBlocks(int[] blocks, CUfunction function, int threads, int sharedBytes) {
    return JCudaDriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, function, threads, sharedBytes);
  }

  @Override
  public int launch(
      CUfunction function,
      int blocks,
      int threads,
      int sharedBytes,
      CUstream stream,
      ByteBuffer stage,
      long first) {
    var parameters = Pointer.to(Pointer.to(stage), Pointer.to(new long[] {first}));
    return JCudaDriver.cuLaunchKernel(
        function, blocks, 1, 1, threads, 1, 1, sharedBytes, stream, parameters, null);
  }

  @Override
  public String errorName(int code) {
    String[] name = {null};
    JCudaDriver.cuGetErrorName(code, name);
    return name[0] == null ? Integer.toString(code) : name[0];
  }
}
