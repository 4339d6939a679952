/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.QrBackendProvider;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.solve.SolveItem;
import io.sparqr.numeric.SubtreeFactorizer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A device that is the plain Java executor, where the property {@link #ON} is set: for tests of
 * everything around a device on machines without one. Its memory is the heap.
 */
public final class PlainDevice implements QrBackendProvider {

  /** System property, "true": take this for the CUDA backend. */
  public static final String ON = "sparqr.test.plainDevice";

  private static final List<HeapRows> KEPT = new CopyOnWriteArrayList<>();
  private static final AtomicInteger FACTORED = new AtomicInteger();
  private static final AtomicInteger UNTIL_LOST = new AtomicInteger(-1);

  /** Tasks factored in this JVM. */
  public static int factored() {
    return FACTORED.get();
  }

  /** Rows of R on the device in this JVM. */
  public static long kept() {
    return KEPT.stream().filter(k -> k.bytes() > 0).count();
  }

  /** Their memory is needed. */
  public static void giveWay() {
    KEPT.forEach(HeapRows::giveWay);
    KEPT.clear();
  }

  /** They are gone without warning, as with a lost device. */
  public static void lose() {
    KEPT.forEach(HeapRows::close);
    KEPT.clear();
  }

  /** They are gone when so many tasks have solved R x = c, on the way down of a solve. */
  public static void loseOnTheWayDown(int tasks) {
    UNTIL_LOST.set(tasks);
  }

  /** A bit of all of them changes, in a root's first row. */
  public static void corrupt() {
    KEPT.removeIf(k -> k.bytes() == 0);
    for (HeapRows k : KEPT) {
      int at = (int) SolveItem.read(k.lists.back().items(), 0).out();
      k.out[at] = Math.nextUp(k.out[at]);
    }
  }

  @Override
  public String name() {
    return Boolean.getBoolean(ON) ? "cuda" : "plain";
  }

  @Override
  public Optional<String> unavailable() {
    return Optional.empty();
  }

  @Override
  public SubtreeFactorizer create(int device) {
    var plain = new TaskListExecutor(SchedulerOptions.defaults());
    return new ReferenceSubtreeFactorizer(
        (RoundExecutor)
            Proxy.newProxyInstance(
                PlainDevice.class.getClassLoader(),
                new Class<?>[] {RoundExecutor.class},
                (proxy, method, arguments) -> {
                  try {
                    return noted(method.getName(), method.invoke(plain, arguments));
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                }));
  }

  private static Object noted(String method, Object result) {
    if (method.equals("execute")) {
      FACTORED.incrementAndGet();
    }
    if (method.equals("keep")) {
      return ((Optional<?>) result).map(k -> noted((HeapRows) k));
    }
    return result;
  }

  private static KeptRows noted(HeapRows rows) {
    KEPT.add(rows);
    return (KeptRows)
        Proxy.newProxyInstance(
            PlainDevice.class.getClassLoader(),
            new Class<?>[] {KeptRows.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("back") && UNTIL_LOST.getAndDecrement() == 0) {
                lose();
              }
              try {
                return method.invoke(rows, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Override
  public int devices() {
    return 1;
  }

  @Override
  public double minimumIntensity() {
    return 0;
  }
}
