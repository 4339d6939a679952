/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.cuda.transfer.StageMemory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;

/**
 * Driver calls that can cut the launch of a stage in two at a given task, and change the device's
 * memory in between. Tasks take their numbers from a counter in that memory, so the second part
 * goes on where the first one ended.
 */
public final class FaultyLaunches {

  /** The action between the tasks before the cut and those after it. */
  @FunctionalInterface
  public interface Action {
    /**
     * Changes memory.
     *
     * @param next number in its stage of the first task that has not run
     * @return false: there is nothing to change now; asked again after the launch
     */
    boolean put(long next);
  }

  private static final int WORDS = 4096;

  private final CudaCalls real;
  private final CudaCalls calls;
  private final CudaCalls.HostMemory memory = new CudaCalls.HostMemory();
  private CUstream stream;
  private Action action;
  private long at;
  private long tasks;

  public FaultyLaunches(CudaCalls real) {
    this.real = real;
    calls =
        (CudaCalls)
            Proxy.newProxyInstance(
                CudaCalls.class.getClassLoader(),
                new Class<?>[] {CudaCalls.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("launch") && ofStage((ByteBuffer) arguments[5])) {
                    return launch(arguments);
                  }
                  try {
                    return method.invoke(real, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
  }

  /** The calls for a driver. */
  public CudaCalls calls() {
    return calls;
  }

  /**
   * Sets the action from now on; null: launches are not cut.
   *
   * @param task how many tasks come before
   */
  public void arm(Action what, long task) {
    action = what;
    at = task;
    tasks = 0;
  }

  /** Tasks of stages that were launched since {@link #arm}. */
  public long tasks() {
    return tasks;
  }

  /**
   * Whether this is a stage's own list, and neither a list that fetches rows nor one of column
   * sums.
   */
  private static boolean ofStage(ByteBuffer parameter) {
    return parameter.capacity() == CudaModule.STAGE_BYTES
        && parameter.getLong(8 * StageMemory.Part.PROGRESS.ordinal()) != 0;
  }

  private int launch(Object[] a) {
    int blocks = (int) a[1];
    long first = (long) a[6];
    long before = Math.min(blocks, Math.max(0, at - tasks));
    tasks += blocks;
    if (action == null || tasks < at) {
      return launch(a, blocks, first);
    }
    stream = (CUstream) a[4];
    int code = before == 0 ? 0 : launch(a, (int) before, first);
    if (code == 0) {
      code = real.streamSynchronize(stream);
    }
    if (code == 0 && action.put(first + before)) {
      action = null;
    }
    if (code == 0 && before < blocks) {
      code = launch(a, (int) (blocks - before), first + before);
    }
    return code;
  }

  private int launch(Object[] a, int blocks, long first) {
    return real.launch(
        (CUfunction) a[0],
        blocks,
        (int) a[2],
        (int) a[3],
        (CUstream) a[4],
        (ByteBuffer) a[5],
        first);
  }

  /** Copies bytes to the host, within an {@link Action}; they are valid until the next call. */
  public ByteBuffer down(CUdeviceptr from, int bytes) {
    if (memory.view == null) {
      check(real.hostAllocate(memory, WORDS));
    }
    check(real.copyToHostAsync(memory, 0, from, bytes, stream));
    check(real.streamSynchronize(stream));
    return memory.view.duplicate().position(0).limit(bytes).slice().order(ByteOrder.nativeOrder());
  }

  /** Copies the bytes that {@link #down} returned back to the device, as they are now. */
  public void up(CUdeviceptr to, int bytes) {
    check(real.copyToDeviceAsync(to, memory, 0, bytes, stream));
    check(real.streamSynchronize(stream));
  }

  private void check(int code) {
    if (code != 0) {
      throw new IllegalStateException("a fault cannot be put in: " + real.errorName(code));
    }
  }
}
