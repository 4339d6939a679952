/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.reference.DeviceBits;
import io.sparqr.backend.reference.PlainCalls;
import io.sparqr.backend.reference.RandomDevices;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.backend.staged.ForwardingExecutor;
import io.sparqr.backend.staged.StageSums;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.CudaException;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.symbolic.Tuning;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What the host does with several devices, on a driver whose devices are the plain executor: their
 * streams run in any order that streams, events and counts allow.
 */
class PlainDevicesTest extends DevicesContract {

  private final PlainCalls driver = new PlainCalls(1, true);
  private final DeviceSessions sessions = sessions(driver);
  private long before;

  private static DeviceSessions sessions(PlainCalls driver) {
    return sessions(driver.calls());
  }

  private static DeviceSessions sessions(CudaCalls calls) {
    return new DeviceSessions(
        new CudaDriver(calls), 0, capability -> new KernelImage(part -> new byte[1]));
  }

  @BeforeEach
  void count() {
    before = LiveResources.total();
  }

  @AfterEach
  @Override
  void close() {
    super.close();
    assertThat(LiveResources.total()).as("resources left").isEqualTo(before);
  }

  @Override
  DeviceSessions sessions() {
    return sessions;
  }

  @Override
  List<List<Integer>> teams() {
    return List.of(List.of(0, 0), List.of(0, 1), List.of(2, 0, 1));
  }

  /** The kernels of column sums are not there. */
  @Override
  RoundExecutor summing(CudaDevicesExecutor executor) {
    return new Summing(executor);
  }

  private static final class Summing extends ForwardingExecutor {
    private final CudaDevicesExecutor inner;

    Summing(CudaDevicesExecutor inner) {
      this.inner = inner;
    }

    @Override
    protected RoundExecutor inner() {
      return inner;
    }

    private double[] read(Part part, long doubles) {
      double[] values = new double[Math.toIntExact(doubles)];
      DeviceLane lane = inner.first();
      lane.device().bind();
      lane.download(lane.memory().get(part), List.of(new Slice(0, values)));
      return values;
    }

    @Override
    public long inputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
      double[] entry = read(Part.S_VALUE, p.sEntries());
      double[] input = read(Part.INPUT, p.inputDoubles());
      new StageSums(p, scale, sums).input(entry, input, counts);
      return BitChecksum.sum(entry) + BitChecksum.sum(input) + StageProgram.placeBits(p.sIndex());
    }

    @Override
    public long outputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
      double[] out = read(Part.OUT, p.outDoubles());
      new StageSums(p, scale, sums).output(out, counts);
      long bits = 0;
      for (int f = 0; f < p.fronts(); f++) {
        int from = (int) p.outStart(f);
        bits += counts[f] ? BitChecksum.sum(out, from, from + p.outLength(f)) : 0;
      }
      return bits;
    }
  }

  /** Four launches a device while its list is on its way, one when it is there. */
  @Test
  void aStageIsFewLaunchesADevice() {
    DeviceBits c = DeviceBits.cases().get(0);
    CudaDevicesExecutor executor =
        executor(List.of(0, 1), by(new RandomDevices(2, 2, 2, 3)), MIXED, false);
    var options = new FactorOptions(c.tolerance(), 2, 0);
    try (var factorizer = new ReferenceSubtreeFactorizer(new Summing(executor))) {
      c.run(factorizer, options);
      assertThat(executor.together()).isEqualTo(1);
      assertThat(executor.device()).isEqualTo("plain (0000:00:00) + plain (0000:00:00)");
      assertThat(driver.launches()).isEqualTo(8);
      c.run(factorizer, options);
      assertThat(driver.launches()).isEqualTo(8 + 2);
    }
    assertThat(driver.timedLaunches()).isZero();
  }

  /**
   * A launch that fails on one device ends what waits for it on the other, before anything else is
   * awaited; the next task has its result.
   */
  @Test
  void aLaunchThatFailsEndsTheOthers() {
    DeviceBits c = DeviceBits.cases().get(0);
    var options = new FactorOptions(c.tolerance(), 2, 0);
    SubtreeFactor expected = one(c, MIXED, options);
    var launches = new AtomicInteger();
    var after = new ArrayList<String>();
    CudaCalls calls =
        FaultyCalls.of(
            driver.calls(),
            (call, arguments) -> {
              if (call.equals("launch") && launches.incrementAndGet() == 4) {
                return 719;
              }
              if (launches.get() == 4
                  && (call.startsWith("copyToDevice") || call.contains("ynchr"))) {
                after.add(call);
              }
              return null;
            });
    var faulty = sessions(calls);
    var leases = List.of(faulty.acquire(0), faulty.acquire(1));
    var executor =
        new CudaDevicesExecutor(
            leases.stream().map(DeviceSessions.Lease::session).toList(),
            by(new RandomDevices(2, 2, 2, 3)),
            0,
            2,
            MIXED,
            new TestModes(false, false, 4_000));
    try (var factorizer = new ReferenceSubtreeFactorizer(new Summing(executor))) {
      assertThatThrownBy(() -> c.run(factorizer, options)).isInstanceOf(CudaException.class);
      assertThat(after).isNotEmpty();
      DeviceBits.assertSame(c.run(factorizer, options), expected, "after a launch that failed");
    }
    leases.forEach(DeviceSessions.Lease::close);
    faulty.closeIdle();
  }

  /** Shared stages are laid out once for tasks of one structure, whoever runs them. */
  @Test
  void aStageThatDevicesShareIsLeftToTheNextExecutor() {
    DeviceBits c = DeviceBits.cases().get(0);
    var options = new FactorOptions(c.tolerance(), 2, 0);
    SubtreeFactor expected = one(c, MIXED, options);
    int stages = Math.toIntExact(expected.summary().stages());
    var asked = new AtomicInteger();
    for (List<Integer> team : List.of(List.of(0, 1), List.of(0, 1, 2), List.of(0, 1))) {
      var map = new RandomDevices(team.size(), 2, 2, 3);
      DeviceChoice choice =
          stage -> {
            asked.incrementAndGet();
            return Optional.of(map.apply(stage));
          };
      CudaDevicesExecutor executor = executor(team, choice, MIXED, false);
      var plans = executor.first().session().plans();
      try (var factorizer = new ReferenceSubtreeFactorizer(new Summing(executor), plans)) {
        DeviceBits.assertSame(c.run(factorizer, options), expected, "devices " + team);
      }
      assertThat(executor.together()).isEqualTo(stages);
    }
    assertThat(asked).as("by two devices, by three, and not again").hasValue(2 * stages);
  }

  /** A launch counts what its blocks do only if somebody wants to know. */
  @Test
  void aTimelineIsMeasuredOnRequest() {
    DeviceBits c = DeviceBits.cases().get(0);
    CudaDevicesExecutor executor =
        executor(List.of(0, 1), by(new RandomDevices(2, 2, 2, 3)), MIXED);
    var options = new FactorOptions(c.tolerance(), 2, 0);
    var told = new Timelines();
    try (var factorizer = new ReferenceSubtreeFactorizer(new Summing(executor))) {
      c.run(factorizer, options.heardBy(told));
      assertThat(driver.timedLaunches()).isEqualTo(8);
      assertThat(executor.timelines()).isEqualTo(told.stages.get(0));
      assertThat(told.stages.get(0).get(1).slots()).isEqualTo(4);
      c.run(factorizer, options);
      assertThat(driver.launches()).isEqualTo(8 + 8);
      assertThat(driver.timedLaunches()).isEqualTo(8);
      assertThat(executor.timelines()).isEmpty();
    }
  }

  /** A part of memory that is elsewhere in the next task is found there by the others. */
  @Test
  void aPartThatMovesIsFoundAgain() {
    DeviceBits c = DeviceBits.cases().get(0);
    var factor = new FactorOptions(c.tolerance(), 2, 0);
    SubtreeFactor expected = one(c, MIXED, factor);
    CudaDevicesExecutor executor =
        executor(List.of(0, 1), by(new RandomDevices(2, 2, 2, 5)), MIXED, false);
    try (var factorizer = new ReferenceSubtreeFactorizer(new Summing(executor))) {
      c.run(factorizer, factor);
      for (Part part : new Part[] {Part.ARENA, Part.VT, Part.STATE, Part.PROGRESS}) {
        executor.first().memory().take(part).close();
        DeviceBits.assertSame(c.run(factorizer, factor), expected, "moved: " + part);
      }
    }
  }

  /** Without peer access the first device works alone, and the report says so. */
  @Test
  void devicesThatDoNotReachEachOtherDoNotShare() {
    var apart = new PlainCalls(2, false);
    DeviceBits c = DeviceBits.cases().get(0);
    var options = new FactorOptions(-1, 2, 0);
    SubtreeFactor factor;
    try (var two = new CudaSubtreeFactorizer(sessions(apart), List.of(0, 1), MIXED)) {
      assertThat(two.description()).isEqualTo("cuda (plain)");
      RoundExecutor inner = two.executor(2, Tuning.constants());
      try (var plain = new ReferenceSubtreeFactorizer(new Summing((CudaDevicesExecutor) inner))) {
        factor = c.run(plain, options);
      }
    }
    assertThat(factor.summary().warnings())
        .containsExactly(
            "plain (0000:00:00) cannot read the memory of plain (0000:00:00) (no peer access):"
                + " the first device works alone");
    DeviceBits.assertSame(factor, one(c, MIXED, options), "alone");
  }
}
