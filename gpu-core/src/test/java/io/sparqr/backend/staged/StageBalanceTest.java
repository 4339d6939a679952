/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.TaskListExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.HeldBlocks;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every error between the values sent to the device and the rows that stay is noticed. */
class StageBalanceTest {

  private static final SchedulerOptions MIXED =
      SchedulerOptions.defaults().withBundle(3).withSmallFronts(600, 24);

  enum Fault {
    /** An entry of A on its way to the device. */
    ENTRY,
    /** An entry of A that never arrives. */
    ENTRY_LOST,
    /** The sign of an entry of a block on its way to the device. */
    BLOCK_SIGN,
    /**
     * A value copied to the host after the rounds: of a trapezoid, or of a block for the next
     * stage.
     */
    FETCHED,
    /** A residual's square. */
    RESIDUAL,
    /** A sum that is not finite. */
    NOT_A_NUMBER
  }

  /** The plain executor with a fault; null: none. */
  private static final class Faulty extends ForwardingExecutor {
    private final TaskListExecutor inner = new TaskListExecutor(MIXED);
    private final Fault fault;
    private final Random random;
    int planted;
    boolean safe;

    Faulty(Fault fault, long seed) {
      this.fault = fault;
      random = new Random(seed);
    }

    @Override
    protected RoundExecutor inner() {
      return inner;
    }

    private void spoil(DoubleBuffer b, int from, int to) {
      int at = from + random.nextInt(to - from);
      for (int k = 0; k < to - from; k++) {
        int i = from + (at - from + k) % (to - from);
        if (Math.abs(b.get(i)) > 0.01) {
          double x = b.get(i);
          b.put(i, fault == Fault.ENTRY_LOST ? 0 : fault == Fault.ENTRY ? x * (1 + 1e-9) : -x);
          planted++;
          return;
        }
      }
    }

    @Override
    public Result execute(StageProgram p, StageInput in, double tolerance, RowSink sink) {
      var spoiled =
          new StageInput() {
            @Override
            public void writeS(int from, int to, DoubleBuffer target) {
              int start = target.position();
              in.writeS(from, to, target);
              boolean mine = fault == Fault.ENTRY || fault == Fault.ENTRY_LOST;
              if (mine && target.position() > start) {
                spoil(target, start, target.position());
              }
            }

            @Override
            public List<Part> parts(int front, int doubles) {
              return in.parts(front, doubles);
            }

            @Override
            public void writePart(Part part, DoubleBuffer target) {
              in.writePart(part, target);
            }

            @Override
            public void writeBlock(int block, long from, long to, DoubleBuffer target) {
              int start = target.position();
              in.writeBlock(block, from, to, target);
              if (fault == Fault.BLOCK_SIGN && planted == 0 && target.position() > start) {
                spoil(target, start, target.position());
              }
            }
          };
      Result r = inner.execute(p, spoiled, tolerance, sink);
      if (fault == Fault.RESIDUAL && r.residual().length > 0) {
        r.residual()[0] += 1e-6;
        planted++;
      }
      return r;
    }

    @Override
    public long outputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
      long bits = inner.outputSums(p, scale, counts, sums);
      if (fault == Fault.NOT_A_NUMBER) {
        sums.add(random.nextInt(sums.columns()), 0, Double.NaN);
        planted++;
      }
      return bits;
    }

    @Override
    public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
      double[] out = inner.fetch(tasks, count, outDoubles);
      if (fault == Fault.FETCHED && out.length > 0) {
        spoil(DoubleBuffer.wrap(out), 0, out.length);
      }
      return out;
    }

    @Override
    public void safe(boolean on) {
      safe = on;
    }
  }

  /**
   * A grid as one task with some zero columns, so that fronts wait and blocks pass between stages.
   */
  private static SubtreeProblem problem(long seed) {
    SubtreeProblem p = DeviceCases.whole("gen:cells2d" + (12 + seed));
    var random = new Random(seed);
    boolean[] zero = new boolean[p.analysis().columns()];
    for (int j = 0; j < zero.length; j++) {
      zero[j] = random.nextInt(20) == 0;
    }
    RowBlock r = p.rows();
    double[] v = r.value().clone();
    for (int k = 0; k < v.length; k++) {
      v[k] = zero[r.position()[k]] ? 0 : v[k];
    }
    var rows = new RowBlock(r.front(), r.rowStart(), r.position(), v, r.rhs(), r.rhsCount());
    return new SubtreeProblem(p.analysis(), p.fronts(), rows, p.inputs());
  }

  private static SubtreeFactor factor(Faulty executor, SubtreeProblem p, FactorOptions o) {
    try (var cpu = new CpuSubtreeFactorizer();
        executor) {
      return new StagedFactorization("plain", executor, cpu).factor(p, o);
    }
  }

  private static FactorOptions half(SubtreeProblem p) {
    var all = new FactorOptions(1e-10, 1, 0);
    long peak = factor(new Faulty(null, 0), p, all).summary().peakDeviceBytes();
    return new FactorOptions(1e-10, 1, 6 * peak / 10);
  }

  @ParameterizedTest
  @EnumSource
  void aFaultIsSeen(Fault fault) {
    int planted = 0;
    for (long seed = 0; seed < 12; seed++) {
      SubtreeProblem p = problem(seed);
      FactorOptions o = half(p);
      SubtreeFactor right = factor(new Faulty(null, seed), p, o);
      assertThat(right.summary().stages()).isGreaterThan(1);
      assertThat(right.summary().normDeparture())
          .isBetween(Tolerances.EPS / 200, Tolerances.DEPARTURE);
      var faulty = new Faulty(fault, seed);
      Throwable seen = null;
      try {
        factor(faulty, p, o);
      } catch (IntegrityFailure e) {
        seen = e;
      }
      if (faulty.planted > 0) {
        assertThat(seen).as("%s, seed %d", fault, seed).isNotNull();
        planted++;
      }
    }
    assertThat(planted).isGreaterThan(8);
  }

  @Test
  void theSafeWayReachesTheExecutor() {
    SubtreeProblem p = problem(1);
    var executor = new Faulty(null, 0);
    factor(executor, p, new FactorOptions(1e-10, 1, 0).safely());
    assertThat(executor.safe).isTrue();
    executor = new Faulty(null, 0);
    executor.safe = true;
    factor(executor, p, new FactorOptions(1e-10, 1, 0));
    assertThat(executor.safe).isFalse();
  }

  /** One bit, any bit, of a block that waits between stages; two signs at once. */
  @Test
  void aHeldBlockThatChangesIsSeen() {
    var analysis = problem(0).analysis();
    int front = 0;
    int cn = analysis.cn(front);
    var random = new Random(9);
    double[] values = random.doubles(ContributionBlock.packedLength(2, cn)).toArray();
    double[] rhs = random.doubles(4).toArray();
    var b = new ContributionBlock(front, 2, cn, values, rhs, 2);
    var held = new HeldBlocks(analysis, List.of(b), 2);
    held.verify(List.of(b));
    for (double[] array : List.of(values, rhs)) {
      for (int k = 0; k < array.length; k++) {
        for (int bit = 0; bit < 64; bit++) {
          double was = array[k];
          array[k] = Double.longBitsToDouble(Double.doubleToRawLongBits(was) ^ 1L << bit);
          assertThatThrownBy(() -> held.verify(List.of(b))).isInstanceOf(IntegrityFailure.class);
          array[k] = was;
        }
      }
    }
    values[0] = -values[0];
    values[1] = -values[1];
    assertThatThrownBy(() -> held.verify(List.of(b))).isInstanceOf(IntegrityFailure.class);
  }
}
