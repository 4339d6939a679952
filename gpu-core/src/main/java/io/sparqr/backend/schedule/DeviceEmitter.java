/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/** The tasks of one of several devices. */
final class DeviceEmitter implements Emitter {

  private final int device;
  private final FrontWays ways;
  private final StageFronts stage;
  private final FrontTimes times;
  private final VtSlots slots;
  private final DevicePulls pulls;

  /** Emits the tasks of fronts that have no other device. */
  private final TaskEmitter alone;

  DeviceEmitter(
      int device,
      FrontWays ways,
      FrontTimes times,
      VtSlots slots,
      DevicePulls pulls,
      TaskEmitter alone) {
    this.device = device;
    this.ways = ways;
    this.stage = ways.stage;
    this.times = times;
    this.slots = slots;
    this.pulls = pulls;
    this.alone = alone;
  }

  @Override
  public void emit(int r, int f, TaskSink sink) {
    int local = r - times.start[f];
    sink.begin(f, local);
    pulls.emit(f, local, device, sink);
    if (ways.devices.on(f, device)) {
      if (ways.devices.shared(f)) {
        emitShared(r, f, local, sink);
      } else if (!ways.crossing(f)) {
        alone.emit(r, f, sink);
        return;
      } else if (local <= ways.length(f)) {
        alone.emit(r, f, -1, sink);
        return;
      }
    }
    if (ways.arrives(f, device)) {
      if (local == ways.copyAt(f) && device != ways.devices.home(f)) {
        sink.copied(0, ways.toParent(f, device));
      } else if (local == ways.copyAt(f) + 1) {
        emitArrived(f, sink);
      }
    }
  }

  private void emitShared(int r, int f, int local, TaskSink sink) {
    FrontSchedule s = stage.rounds[f];
    boolean home = device == ways.devices.home(f);
    if (local == -1) {
      alone.emitAssembly(f, s, sink);
    } else if (local < s.rounds()) {
      sink.copied(ways.taken(f, local, device), 0);
      emitRound(r, f, local, s, sink);
    } else if (local == s.rounds()) {
      sink.copied(0, home ? ways.toHome(f) : 0);
    } else if (local == s.rounds() + 1 && home) {
      for (int k = 0; k < s.pivotTiles; k++) {
        alone.emitFinalRows(f, k, -1, sink);
      }
      alone.emitEnd(f, -1, sink);
    }
  }

  private void emitRound(int r, int f, int local, FrontSchedule s, TaskSink sink) {
    FrontDevices devices = ways.devices;
    int readBase = local == 0 ? 0 : slots.base(f, local - 1);
    int writeBase = slots.base(f, local);
    int most = alone.chunk(r);
    int end = s.columnTiles;
    for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
      if (s.kind(op) != TaskLayout.APPLY && devices.owner(f, s.factorized(op)) == device) {
        sink.marked(true);
        sink.factorize(s, op, f, readBase, writeBase);
        sink.marked(false);
      }
      int c = devices.next(f, device, s.applyFrom(op), end);
      while (c < end) {
        int to = devices.runEnd(f, c, end);
        sink.apply(s, op, f, readBase, c, to, (to - c + most - 1) / most);
        c = devices.next(f, device, to, end);
      }
    }
  }

  /** Assembles the columns of a crossing front's block that the device owns; at least one task. */
  private void emitArrived(int f, TaskSink sink) {
    int parent = stage.parent[f];
    int[] runs = ways.runs(f, device);
    sink.marked(true);
    for (int k = 0; k < runs.length; k += 2) {
      alone.emitPacks(
          TaskLayout.PACK_ASSEMBLE, f, parent, 0, stage.cm[f], runs[k], runs[k + 1], sink);
    }
    if (runs.length == 0) {
      sink.pack(TaskLayout.PACK_ASSEMBLE, f, parent, 0, 0, 0, 0);
    }
    sink.marked(false);
  }
}
