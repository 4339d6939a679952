/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.FaultTally.Outcome;
import io.sparqr.backend.reference.FaultTally.Verdict;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.integrity.FaultOracle;
import io.sparqr.numeric.integrity.FaultProblem;
import java.util.Random;

/**
 * Puts one fault into each of many factorizations, and reports the outcomes. Run as a program, it
 * uses the plain executor. Arguments: how many; the first seed; size of the problems (1); {@code
 * right} for changes of Q'b alone.
 */
public final class FaultCampaign {

  private static final int FAULTS_A_PROBLEM = 60;

  static final SchedulerOptions MIXED =
      SchedulerOptions.defaults().withBundle(3).withSmallFronts(600, 24);

  /** Makes the executor for a problem; closed by the campaign. */
  @FunctionalInterface
  public interface Targets {
    /** For the problem with this seed. */
    FaultTarget of(FaultProblem problem, long seed);
  }

  private final FaultTally tally = new FaultTally();
  private final Targets targets;
  private final int size;

  /** On the plain executor. */
  public FaultCampaign() {
    this(FaultCampaign::plain, 1);
  }

  /** The plain executor. */
  static FaultyExecutor plain(FaultProblem p, long seed) {
    return new FaultyExecutor(MIXED, p.free(), seed);
  }

  /** The plain executor, with faults in Q'b alone. */
  static FaultyExecutor right(FaultProblem p, long seed) {
    return plain(p, seed).inRightHandSides();
  }

  /** On other executors, with problems {@code size} times as large. */
  public FaultCampaign(Targets targets, int size) {
    this.targets = targets;
    this.size = size;
  }

  /** Runs and prints the table. */
  public static void main(String[] arguments) {
    int size = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 1;
    boolean right = arguments.length > 3 && arguments[3].equals("right");
    new FaultCampaign(right ? FaultCampaign::right : FaultCampaign::plain, size).run(arguments);
  }

  /** Runs as a program; ends it with 1 if a fault was missed. */
  public void run(String[] arguments) {
    long count = Long.parseLong(arguments[0]);
    long seed = Long.parseLong(arguments[1]);
    long began = System.nanoTime();
    try {
      run(count, seed);
    } finally {
      System.out.printf(
          "%d faults from seed %d, %.0f s%n%s",
          count, seed, (System.nanoTime() - began) * 1e-9, tally);
    }
    if (tally.count(Verdict.MISSED) > 0) {
      System.exit(1);
    }
  }

  /** The outcomes of the faults. */
  public FaultTally tally() {
    return tally;
  }

  /** Puts in a number of faults, into problems with consecutive seeds. */
  public FaultCampaign run(long count, long seed) {
    long left = count;
    for (long s = seed; left > 0; s++) {
      left -= problem(s, (int) Math.min(left, FAULTS_A_PROBLEM));
    }
    return this;
  }

  /** Puts {@value #FAULTS_A_PROBLEM} faults into each of the problems with these seeds. */
  FaultCampaign runEach(long... seeds) {
    for (long seed : seeds) {
      problem(seed, FAULTS_A_PROBLEM);
    }
    return this;
  }

  /** Faults in one problem; how many. */
  private int problem(long seed, int count) {
    FaultProblem p = FaultProblem.random(seed, size);
    FaultTarget executor = targets.of(p, seed);
    var plain = new ReferenceSubtreeFactorizer(executor);
    int done = 0;
    try (var checked = new CheckedFactorizer(plain, new CpuSubtreeFactorizer())) {
      executor.arm(null, 0, null);
      FactorOptions options = p.options();
      SubtreeFactor reference = checked.factor(p.problem(), options);
      if (p.part() < 10) {
        options = p.within(reference.summary().peakDeviceBytes());
        executor.arm(null, 0, null);
        reference = checked.factor(p.problem(), options);
      }
      if (reference.summary().redoneTasks() > 0) {
        throw new AssertionError(p.name() + ": done again without a fault");
      }
      int moments = executor.moments();
      var oracle = new FaultOracle(p, reference);
      String right = oracle.wrong(oracle.off(reference));
      if (right != null) {
        throw new AssertionError(p.name() + ": the reference is wrong: " + right);
      }
      var random = new Random(seed);
      for (int tries = 0; done < count && tries < 4 * count; tries++) {
        Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
        fault = fault.flips() && random.nextBoolean() ? Fault.ARENA : fault;
        done += put(p, options, checked, executor, oracle, fault, random.nextInt(moments), random);
      }
    } catch (InsufficientMemoryException e) {
      // One front needs more than the part of the memory that this problem is given.
      return done;
    }
    return done;
  }

  private int put(
      FaultProblem p,
      FactorOptions options,
      CheckedFactorizer checked,
      FaultTarget executor,
      FaultOracle oracle,
      Fault fault,
      int moment,
      Random random) {
    executor.arm(fault, moment, random);
    Outcome outcome = outcome(p, options, checked, oracle);
    if (outcome.verdict() == Verdict.MISSED) {
      outcome = new Outcome(Verdict.MISSED, outcome.what() + "; " + executor.detail());
    }
    executor.restore();
    if (executor.label() == null) {
      return 0;
    }
    tally.add(fault, executor.label(), executor.bit(), outcome);
    return 1;
  }

  private Outcome outcome(
      FaultProblem p, FactorOptions options, CheckedFactorizer checked, FaultOracle oracle) {
    SubtreeFactor f;
    try {
      f = checked.factor(p.problem(), options);
      // As the encoder of R does.
      f.verify();
    } catch (FatalCudaException e) {
      // From here on nothing can be computed.
      throw e;
    } catch (NumericalIntegrityException e) {
      return new Outcome(Verdict.REFUSED, e.getClass().getSimpleName());
    } catch (RuntimeException e) {
      // The compiler throws common exceptions without a trace after a while.
      StackTraceElement[] trace = e.getStackTrace();
      return new Outcome(
          Verdict.MISSED, p.name() + ": " + e + (trace.length == 0 ? "" : " " + trace[0]));
    }
    FaultOracle.Off off = oracle.off(f);
    String wrong = oracle.wrong(off);
    boolean said = f.summary().redoneTasks() > 0 && !f.summary().warnings().isEmpty();
    if (wrong != null) {
      return new Outcome(
          Verdict.MISSED,
          "%s in %s; %s, limit %.1e, condition %.1e, done again %d: %s"
              .formatted(
                  wrong,
                  p.name(),
                  off,
                  oracle.limit(),
                  oracle.condition(),
                  f.summary().redoneTasks(),
                  f.summary().warnings()));
    }
    if (off.rank() == FaultOracle.Rank.UNDECIDED) {
      tally.undecided();
    }
    tally.allowed(
        off.gram() / oracle.limit(),
        oracle.condition() < FaultOracle.CONDITION ? off.x() : 0,
        off.q() / oracle.limit());
    return new Outcome(said ? Verdict.MENDED : Verdict.HARMLESS, "");
  }
}
