/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaCalls.HostMemory;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;

/**
 * A CUDA driver with several devices whose memory is the heap and whose rounds are {@link
 * StageTasks}: for tests of what the host does with several devices, on machines without one. Work
 * of a stream is put off until somebody waits for it, and streams take turns by chance, so that
 * what is not ordered by a stream, an event or a task's counts comes in any order. No kernels but
 * the rounds', those of products with Q and of sums over dense matrices.
 */
public final class PlainCalls {

  static final int OK = 0;
  private static final int MULTIPROCESSORS = 2;

  private static final int SHARED_BYTES =
      CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;

  /** As of compute capability 9.0. */
  private static final int MOST_SHARED_BYTES = 227 << 10;

  /** Steps of all streams at a launch, at most. */
  private static final int AHEAD = 2000;

  private static final int INVALID_VALUE = 1;
  private static final int ALREADY_ENABLED = 704;

  /** Work of a stream. */
  interface Work {
    /** Does some of it. */
    Progress step();
  }

  enum Progress {
    DONE,
    SOME,
    NONE
  }

  /** Memory of a device. */
  static final class Block {
    final int device;
    final long base;
    final int bytes;
    private ByteBuffer raw;
    private double[] doubles;

    Block(int device, long base, int bytes) {
      this.device = device;
      this.base = base;
      this.bytes = bytes;
      raw = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
      // Never what a test could rely on.
      for (int k = 0; k < bytes; k++) {
        raw.put(k, (byte) -1);
      }
    }

    /** Its values, from now on kept as such. */
    double[] doubles() {
      if (doubles == null) {
        doubles = new double[bytes / 8];
        raw.asDoubleBuffer().get(0, doubles);
        raw = null;
      }
      return doubles;
    }

    ByteBuffer raw() {
      if (raw == null) {
        throw new IllegalStateException("this memory holds doubles");
      }
      return raw;
    }

    void write(int at, ByteBuffer from, int length) {
      if (doubles == null) {
        raw.put(at, from, from.position(), length);
      } else {
        requireDoubles(at, length);
        ByteBuffer part = from.slice(from.position(), length).order(ByteOrder.nativeOrder());
        part.asDoubleBuffer().get(doubles, at / 8, length / 8);
      }
    }

    void read(int at, ByteBuffer to, int length) {
      if (doubles == null) {
        to.put(to.position(), raw, at, length);
      } else {
        requireDoubles(at, length);
        ByteBuffer part = to.slice(to.position(), length).order(ByteOrder.nativeOrder());
        part.asDoubleBuffer().put(doubles, at / 8, length / 8);
      }
    }

    private static void requireDoubles(int at, int length) {
      if (at % 8 != 0 || length % 8 != 0) {
        throw new IllegalStateException("a part of a double");
      }
    }

    void fill(int at, byte value, int length) {
      ByteBuffer b = ByteBuffer.allocate(length);
      for (int k = 0; k < length; k++) {
        b.put(k, value);
      }
      write(at, b, length);
    }
  }

  private final Random random;
  private final boolean peers;
  private final TreeMap<Long, Block> blocks = new TreeMap<>();
  private long next = 1L << 40;
  private final ThreadLocal<Integer> current = ThreadLocal.withInitial(() -> 0);
  private final Map<CUstream, Queue> streams = new IdentityHashMap<>();
  private final Map<CUevent, Marker> events = new IdentityHashMap<>();
  private final Map<CUfunction, Kernel> functions = new IdentityHashMap<>();
  private final Set<List<Integer>> reached = new HashSet<>();

  /** By address of the counts: the tasks' arrays of the stage under way. */
  final Map<Long, StageTasks> stages = new HashMap<>();

  private int launches;
  private int timedLaunches;

  /** What %globaltimer is on all devices; every step of a launch takes a microsecond. */
  private long nanos = 5_000_000;

  private record Kernel(int device, String name) {}

  private static final class Marker {
    final int device;
    boolean reached = true;

    /** The work of its stream. */
    ArrayDeque<Work> by;

    Marker(int device) {
      this.device = device;
    }
  }

  private record Queue(int device, ArrayDeque<Work> work) {}

  /**
   * A driver.
   *
   * @param peers whether devices reach each other's memory once they are allowed to
   */
  public PlainCalls(long seed, boolean peers) {
    random = new Random(seed);
    this.peers = peers;
  }

  Random random() {
    return random;
  }

  /** Lets a microsecond pass; returns the time. */
  long tick() {
    nanos += 1000;
    return nanos;
  }

  /** Launches so far that counted what their blocks did. */
  public synchronized int timedLaunches() {
    return timedLaunches;
  }

  /** Launches of rounds so far. */
  public synchronized int launches() {
    return launches;
  }

  /** The calls; those that are not here succeed without effect. */
  public CudaCalls calls() {
    return (CudaCalls)
        Proxy.newProxyInstance(
            CudaCalls.class.getClassLoader(),
            new Class<?>[] {CudaCalls.class},
            (proxy, method, a) -> {
              if (method.getName().equals("errorName")) {
                return "error " + a[0];
              }
              synchronized (this) {
                return call(method.getName(), a);
              }
            });
  }

  private int call(String name, Object[] a) {
    return switch (name) {
      case "deviceName" -> {
        System.arraycopy("plain".getBytes(), 0, (byte[]) a[1], 0, 5);
        yield OK;
      }
      case "deviceAttribute" -> {
        if ((Integer) a[1] == CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
          ((int[]) a[2])[0] = MULTIPROCESSORS;
        } else if ((Integer) a[1] == SHARED_BYTES) {
          ((int[]) a[2])[0] = MOST_SHARED_BYTES;
        }
        yield OK;
      }
      case "residentBlocks" -> {
        ((int[]) a[0])[0] = PlainLaunch.BLOCKS / MULTIPROCESSORS;
        yield OK;
      }
      case "contextSetCurrent" -> {
        current.set((Integer) a[0]);
        yield OK;
      }
      case "canAccessPeer" -> {
        ((int[]) a[0])[0] = peers ? 1 : 0;
        yield OK;
      }
      case "enablePeerAccess" ->
          !peers
              ? INVALID_VALUE
              : reached.add(List.of(current.get(), (Integer) a[0])) ? OK : ALREADY_ENABLED;
      case "memoryInfo" -> {
        ((long[]) a[0])[0] = 1L << 32;
        ((long[]) a[1])[0] = 1L << 32;
        yield OK;
      }
      case "memoryAllocate" -> allocate((CUdeviceptr) a[0], (Long) a[1]);
      case "memoryFree" -> {
        finish();
        yield blocks.remove(address((CUdeviceptr) a[0])) == null ? INVALID_VALUE : OK;
      }
      case "hostAllocate" -> {
        ((HostMemory) a[0]).view =
            ByteBuffer.allocateDirect(Math.toIntExact((Long) a[1])).order(ByteOrder.nativeOrder());
        yield OK;
      }
      case "streamCreate" -> {
        streams.put((CUstream) a[0], new Queue(current.get(), new ArrayDeque<>()));
        yield OK;
      }
      case "streamDestroy" -> {
        finish();
        streams.remove((CUstream) a[0]);
        yield OK;
      }
      case "eventCreate" -> {
        events.put((CUevent) a[0], new Marker(current.get()));
        yield OK;
      }
      case "eventRecord" -> record((CUevent) a[0], (CUstream) a[1]);
      case "streamWaitEvent" -> {
        Marker marker = events.get((CUevent) a[1]);
        yield add((CUstream) a[0], () -> marker.reached ? Progress.DONE : Progress.NONE);
      }
      case "eventSynchronize" -> {
        Marker marker = events.get((CUevent) a[0]);
        ArrayDeque<Work> alone = random.nextBoolean() ? marker.by : null;
        while (!marker.reached) {
          turn(alone);
        }
        yield OK;
      }
      case "streamSynchronize" -> {
        ArrayDeque<Work> work = streams.get((CUstream) a[0]).work;
        ArrayDeque<Work> alone = random.nextBoolean() ? work : null;
        while (!work.isEmpty()) {
          turn(alone);
        }
        yield OK;
      }
      case "setAsync" -> set(a);
      case "copyToDeviceAsync" -> up(a);
      case "copyToHostAsync" -> down(a);
      case "moduleFunction" -> {
        functions.put((CUfunction) a[0], new Kernel(current.get(), (String) a[2]));
        yield OK;
      }
      case "launch" -> launch(a);
      default -> OK;
    };
  }

  private int allocate(CUdeviceptr to, long bytes) {
    var block = new Block(current.get(), next, Math.toIntExact((bytes + 7) / 8 * 8));
    next += (bytes + 4095) / 4096 * 4096 + 4096;
    blocks.put(block.base, block);
    set(NativePointerObject.class, "nativePointer", to, block.base);
    return OK;
  }

  private int record(CUevent event, CUstream by) {
    var marker = new Marker(current.get());
    if (events.get(event).device != streams.get(by).device) {
      // CUDA_ERROR_INVALID_HANDLE
      return 400;
    }
    marker.reached = false;
    marker.by = streams.get(by).work;
    events.put(event, marker);
    return add(
        by,
        () -> {
          marker.reached = true;
          return Progress.DONE;
        });
  }

  private int set(Object[] a) {
    long to = address((CUdeviceptr) a[0]);
    byte value = (Byte) a[1];
    int bytes = Math.toIntExact((Long) a[2]);
    return add((CUstream) a[3], copy(() -> at(to).fill(offset(to), value, bytes)));
  }

  private int up(Object[] a) {
    long to = address((CUdeviceptr) a[0]);
    ByteBuffer from = ((HostMemory) a[1]).view.duplicate().position(Math.toIntExact((Long) a[2]));
    int bytes = Math.toIntExact((Long) a[3]);
    int device = streams.get((CUstream) a[4]).device;
    return add((CUstream) a[4], copy(() -> at(to, device).write(offset(to), from, bytes)));
  }

  private int down(Object[] a) {
    ByteBuffer to = ((HostMemory) a[0]).view.duplicate().position(Math.toIntExact((Long) a[1]));
    long from = address((CUdeviceptr) a[2]);
    int bytes = Math.toIntExact((Long) a[3]);
    return add((CUstream) a[4], copy(() -> at(from).read(offset(from), to, bytes)));
  }

  private static Work copy(Runnable all) {
    return () -> {
      all.run();
      return Progress.DONE;
    };
  }

  private int launch(Object[] a) {
    var stream = (CUstream) a[4];
    Kernel kernel = functions.get((CUfunction) a[0]);
    int device = streams.get(stream).device;
    if (kernel.device == device && PlainDense.knows(kernel.name)) {
      ByteBuffer its = ((ByteBuffer) a[5]).duplicate().order(ByteOrder.nativeOrder());
      return add(stream, new PlainDense(this, device, kernel.name, its, (Integer) a[1]));
    }
    if (kernel.device != device || !kernel.name.startsWith("sparqr_round_")) {
      return INVALID_VALUE;
    }
    launches++;
    ByteBuffer stage = ((ByteBuffer) a[5]).duplicate().order(ByteOrder.nativeOrder());
    timedLaunches += stage.getLong(PlainLaunch.TIMELINE) == 0 ? 0 : 1;
    add(stream, new PlainLaunch(this, device, stage, (Long) a[6], (Integer) a[1]));
    // The devices may be far ahead of the host: what it sends after this, too late, is not there.
    for (int k = random.nextInt(AHEAD); k > 0 && some(null); k--) {
      // one after the other
    }
    return OK;
  }

  private int add(CUstream stream, Work work) {
    streams.get(stream).work.add(work);
    return OK;
  }

  /**
   * Does some work of a stream that has any.
   *
   * @param alone its work first, and that of others only where it waits for them; null: by chance
   */
  private void turn(ArrayDeque<Work> alone) {
    if (!some(alone)) {
      throw new IllegalStateException("all streams wait for each other");
    }
  }

  /** The same; false if no stream can go on. */
  private boolean some(ArrayDeque<Work> alone) {
    if (alone != null) {
      Progress made = alone.peek().step();
      if (made == Progress.DONE) {
        alone.remove();
      }
      if (made != Progress.NONE) {
        return true;
      }
    }
    var busy = new ArrayList<ArrayDeque<Work>>();
    streams
        .values()
        .forEach(
            q -> {
              if (!q.work.isEmpty()) {
                busy.add(q.work);
              }
            });
    int first = busy.isEmpty() ? 0 : random.nextInt(busy.size());
    for (int k = 0; k < busy.size(); k++) {
      ArrayDeque<Work> work = busy.get((first + k) % busy.size());
      Progress made = work.peek().step();
      if (made == Progress.DONE) {
        work.remove();
      }
      if (made != Progress.NONE) {
        return true;
      }
    }
    return false;
  }

  private void finish() {
    while (streams.values().stream().anyMatch(q -> !q.work.isEmpty())) {
      turn(null);
    }
  }

  /** The memory at an address. */
  Block at(long address) {
    Map.Entry<Long, Block> e = blocks.floorEntry(address);
    if (e == null || address >= e.getKey() + Math.max(1, e.getValue().bytes)) {
      throw new IllegalStateException("no memory at this address");
    }
    return e.getValue();
  }

  /** The memory at an address, for a kernel on a device. */
  Block at(long address, int device) {
    Block b = at(address);
    if (b.device != device && !reached.contains(List.of(device, b.device))) {
      throw new IllegalStateException("device %d does not reach %d".formatted(device, b.device));
    }
    return b;
  }

  /** Bytes from the beginning of the memory at an address. */
  int offset(long address) {
    return (int) (address - at(address).base);
  }

  private static long address(CUdeviceptr p) {
    return get(NativePointerObject.class, "nativePointer", p) + get(Pointer.class, "byteOffset", p);
  }

  private static long get(Class<?> of, String name, Object object) {
    try {
      Field f = of.getDeclaredField(name);
      f.setAccessible(true);
      return f.getLong(object);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void set(Class<?> of, String name, Object object, long value) {
    try {
      Field f = of.getDeclaredField(name);
      f.setAccessible(true);
      f.setLong(object, value);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
