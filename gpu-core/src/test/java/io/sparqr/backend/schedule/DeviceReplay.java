/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Takes the tasks of several devices in some order that their counts allow, as devices would that
 * run beside each other.
 */
public final class DeviceReplay {

  /** What a task does. */
  @FunctionalInterface
  public interface Work {
    void task(int device, Task task);
  }

  private final DeviceSchedule schedule;
  private final int fronts;
  private final ByteBuffer[] list;
  private final int[][] chain;
  private final int[][] bulk;
  private final int[][] made;

  /** By round: announcements of all devices, then the other tasks of each device. */
  private final List<Item> items = new ArrayList<>();

  private record Item(int device, int place) {}

  /**
   * Writes the lists.
   *
   * @param fronts of the stage
   */
  public DeviceReplay(DeviceSchedule schedule, int fronts) {
    this.schedule = schedule;
    this.fronts = fronts;
    int devices = schedule.devices();
    list = new ByteBuffer[devices];
    chain = new int[devices][fronts];
    bulk = new int[devices][fronts];
    made = new int[devices][fronts];
    for (int d = 0; d < devices; d++) {
      StageSchedule s = schedule.of(d);
      list[d] = ByteBuffer.allocate(Math.toIntExact(s.tasks() * TaskLayout.TASK_BYTES));
      list[d].order(ByteOrder.LITTLE_ENDIAN);
      s.write(0, s.rounds(), list[d]);
    }
    for (int r = 0; r < schedule.rounds(); r++) {
      for (int d = 0; d < devices; d++) {
        add(d, schedule.of(d).roundStart(r), schedule.of(d).kindStart(r, TaskLayout.PULL));
      }
      for (int d = 0; d < devices; d++) {
        add(d, schedule.of(d).kindStart(r, TaskLayout.PULL), schedule.of(d).roundStart(r + 1));
      }
    }
  }

  private void add(int device, long from, long to) {
    for (long k = from; k < to; k++) {
      items.add(new Item(device, (int) k * TaskLayout.TASK_BYTES));
    }
  }

  /** Number of parts that a device takes from another. */
  public long pulls() {
    return items.stream().filter(this::pulls).count();
  }

  private boolean pulls(Item i) {
    return TaskLayout.kind(list[i.device], i.place) == TaskLayout.PULL;
  }

  /** Runs all in list order, in which nothing may wait for something later. */
  public void inOrder(Work work) {
    for (Item i : items) {
      if (!ready(i)) {
        throw new IllegalStateException("waits for something later: " + name(i));
      }
      run(i, work);
    }
  }

  /** Runs all; {@code choice} picks one of so many that are ready, the last of them newly so. */
  public void freely(IntUnaryOperator choice, Work work) {
    var waiting = new ArrayList<List<List<Integer>>>();
    for (int d = 0; d < list.length; d++) {
      var of = new ArrayList<List<Integer>>();
      for (int f = 0; f < fronts; f++) {
        of.add(new ArrayList<>());
      }
      waiting.add(of);
    }
    int[] ready = new int[items.size()];
    boolean[] queued = new boolean[items.size()];
    int count = 0;
    for (int k = 0; k < items.size(); k++) {
      Item i = items.get(k);
      if (ready(i)) {
        queued[k] = true;
        ready[count++] = k;
      } else {
        int f = TaskLayout.front(list[i.device], i.place);
        waiting.get(i.device).get(f).add(k);
        if (pulls(i)) {
          waiting.get(from(i)).get(f).add(k);
        }
      }
    }
    for (int done = 0; done < items.size(); done++) {
      if (count == 0) {
        throw new IllegalStateException((items.size() - done) + " tasks wait for each other");
      }
      int at = choice.applyAsInt(count);
      int k = ready[at];
      System.arraycopy(ready, at + 1, ready, at, count - at - 1);
      count--;
      for (int[] word : run(items.get(k), work)) {
        List<Integer> there = waiting.get(word[0]).get(word[1]);
        int left = 0;
        for (int n : there) {
          if (!queued[n] && ready(items.get(n))) {
            queued[n] = true;
            ready[count++] = n;
          } else if (!queued[n]) {
            there.set(left++, n);
          }
        }
        there.subList(left, there.size()).clear();
      }
    }
  }

  private int from(Item i) {
    return list[i.device].getInt(i.place + TaskLayout.PULL_FROM);
  }

  private boolean ready(Item i) {
    ByteBuffer b = list[i.device];
    int needChain = TaskLayout.needChain(b, i.place);
    int needBulk = TaskLayout.needBulk(b, i.place);
    int f = TaskLayout.front(b, i.place);
    boolean told = !pulls(i) || made[from(i)][f] >= b.getInt(i.place + TaskLayout.PULL_MADE);
    return told
        && ((needChain | needBulk) == 0
            || chain[i.device][f] >= needChain && bulk[i.device][f] >= needBulk);
  }

  private String name(Item i) {
    return "device " + i.device + ": " + TaskLayout.decode(list[i.device], i.place);
  }

  /** Does one, counts it, and returns the words that have changed: devices and fronts. */
  private int[][] run(Item i, Work work) {
    ByteBuffer b = list[i.device];
    work.task(i.device, TaskLayout.decode(b, i.place));
    int f = TaskLayout.front(b, i.place);
    if (TaskLayout.announces(b, i.place)) {
      made[i.device][f]++;
    }
    if (TaskLayout.countsForChain(b, i.place)) {
      chain[i.device][f]++;
      return new int[][] {{i.device, f}};
    }
    int filled = TaskLayout.countsForBulk(b, i.place);
    if (filled < 0) {
      return TaskLayout.announces(b, i.place) ? new int[][] {{i.device, f}} : new int[0][];
    }
    bulk[i.device][filled]++;
    return new int[][] {{i.device, filled}};
  }

  /** The schedule. */
  public DeviceSchedule schedule() {
    return schedule;
  }

  /** Whether every word has the value that its list ends with; for tests of the counts. */
  public int[] bulkOf(int device) {
    return Arrays.copyOf(bulk[device], fronts);
  }
}
