/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Takes the tasks of several devices and the copies between them in some order that their counts
 * allow, as devices would that run beside each other.
 */
public final class DeviceReplay {

  /** What a task or a copy does. */
  public interface Work {
    void task(int device, Task task);

    void copy(DeviceCopy copy);
  }

  private final DeviceSchedule schedule;
  private final int fronts;
  private final ByteBuffer[] list;
  private final int[][] chain;
  private final int[][] bulk;
  private final int[][] made;

  /** What there is to do, in the order of the lists: copies of a round before its tasks. */
  private final List<Item> items = new ArrayList<>();

  private record Item(int device, int place, DeviceCopy copy) {}

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
        schedule.copies(r, d, c -> items.add(new Item(c.to(), -1, c)));
      }
      for (int d = 0; d < devices; d++) {
        StageSchedule s = schedule.of(d);
        for (long k = s.roundStart(r); k < s.roundStart(r + 1); k++) {
          items.add(new Item(d, (int) k * TaskLayout.TASK_BYTES, null));
        }
      }
    }
  }

  /** Number of copies. */
  public long copies() {
    return items.stream().filter(i -> i.copy != null).count();
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
      } else if (i.copy != null) {
        waiting.get(i.copy.from()).get(i.copy.front()).add(k);
        waiting.get(i.copy.to()).get(i.copy.front()).add(k);
      } else {
        waiting.get(i.device).get(TaskLayout.front(list[i.device], i.place)).add(k);
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

  private boolean ready(Item i) {
    if (i.copy != null) {
      int f = i.copy.front();
      int from = i.copy.from();
      int to = i.copy.to();
      return i.copy.source().met(chain[from][f], bulk[from][f], made[from][f])
          && i.copy.target().met(chain[to][f], bulk[to][f], made[to][f]);
    }
    ByteBuffer b = list[i.device];
    int needChain = TaskLayout.needChain(b, i.place);
    int needBulk = TaskLayout.needBulk(b, i.place);
    int f = TaskLayout.front(b, i.place);
    return (needChain | needBulk) == 0
        || chain[i.device][f] >= needChain && bulk[i.device][f] >= needBulk;
  }

  private String name(Item i) {
    return i.copy != null
        ? i.copy.toString()
        : "device " + i.device + ": " + TaskLayout.decode(list[i.device], i.place);
  }

  /** Does one, counts it, and returns the words that have changed: devices and fronts. */
  private int[][] run(Item i, Work work) {
    if (i.copy != null) {
      DeviceCopy c = i.copy;
      work.copy(c);
      (c.chain() ? chain : bulk)[c.to()][c.front()]++;
      return new int[][] {{c.to(), c.front()}};
    }
    ByteBuffer b = list[i.device];
    work.task(i.device, TaskLayout.decode(b, i.place));
    int f = TaskLayout.front(b, i.place);
    int kind = TaskLayout.kind(b, i.place);
    if (TaskLayout.countsForChain(b, i.place)) {
      chain[i.device][f]++;
      boolean bundle = kind == TaskLayout.FACTORIZE || kind == TaskLayout.APPLY_FACTORIZE;
      made[i.device][f] += bundle && TaskLayout.marked(b, i.place) ? 1 : 0;
      return new int[][] {{i.device, f}};
    }
    int filled = TaskLayout.countsForBulk(b, i.place);
    if (filled < 0) {
      return new int[0][];
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
