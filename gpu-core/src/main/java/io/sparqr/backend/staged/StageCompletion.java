/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.GivenValues;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Completes the stages of a factorization after their rounds: checks them, decides which fronts are
 * done and which pend, and has the host do what the executor leaves to it.
 *
 * <p>Dead columns. A static schedule cannot shift rows, so it only detects: a pivot with |R_kk| at
 * most the tolerance marks its front unsound. The front is finished anyway, because A_f = QR holds
 * for any pivots; then DROP tasks at the end of its list drop the dead columns, and the fronts
 * above continue ({@link io.sparqr.backend.schedule.Task.Drop}). If a front has no DROP tasks
 * (small fronts, Q kept, fewer rows than pivots, or fewer rows than columns and no parent with DROP
 * tasks in the stage) or they find a pivot too near the tolerance, its parent gets the mark instead
 * of the block, and so does every front above it in the stage, whose tasks then do nothing. After
 * the stage, the lowest unsound fronts are triangularised again from their R, without the dead
 * columns ({@link Retriangularization}), or from their rows if a pivot is so near the tolerance
 * that rounding errors might decide; the fronts above them return to the executor in the next
 * stage, with their actual number of rows (more than at full rank, at most min(fm, cn)). So the
 * tree stays on the device.
 */
final class StageCompletion {

  private final RoundExecutor executor;
  private final SubtreeFactorizer host;
  private final SymbolicAnalysis analysis;
  private final FactorOptions options;
  private final RowsByFront rows;
  private final GivenValues given;
  private final FactoredFronts done;
  private final StageTotals totals;

  /**
   * For the stages of one factorization.
   *
   * @param executor has run them
   * @param host triangularises fronts with dead columns and checks its results; not closed here
   * @param options for the host
   * @param rows of the task
   * @param given checksums of the task's input
   * @param done takes what is completed
   * @param totals takes the host's flops, further downloads and departures
   */
  StageCompletion(
      RoundExecutor executor,
      SubtreeFactorizer host,
      SymbolicAnalysis analysis,
      FactorOptions options,
      RowsByFront rows,
      GivenValues given,
      FactoredFronts done,
      StageTotals totals) {
    this.executor = executor;
    this.host = host;
    this.analysis = analysis;
    this.options = options;
    this.rows = rows;
    this.given = given;
    this.done = done;
    this.totals = totals;
  }

  /**
   * Completes a stage: sound fronts, and those whose dead columns the executor has dropped, are
   * done; the lowest of the others are triangularised again or factored from their rows, and all
   * fronts above them stay pending.
   *
   * @return size fronts: those that stay pending
   */
  boolean[] complete(FinishedStage stage) {
    StageProgram program = stage.program();
    int[] fronts = stage.fronts();
    StageBalance balance = stage.balance();
    StageRows sink = stage.sink();
    int n = fronts.length;
    boolean[] pends = new boolean[n];
    int[] state = states(stage);
    List<Integer> dead = lowestUnsound(program, state, pends);
    boolean[] sound = new boolean[n];
    for (int f = 0; f < n; f++) {
      sound[f] = TaskLayout.isDone(state[f]) && !pends[f];
    }
    boolean dropped = balance.weighDropped(sink, sound);
    boolean checked = dead.isEmpty() && !dropped && soundAndRight(stage);
    if (!checked) {
      balance.left(executor, sound, pends, stage.read(), sink.bits(sound));
    }
    if (options.keepQ()) {
      fetchReflectors(program, fronts, pends);
    }
    var fetch = new RowFetch(executor, program, options.threads());
    var again = new Retriangularization(program, fronts, analysis, fetch, host, options);
    List<Integer> undecided =
        again.run(
            dead.stream().filter(f -> state[f] == TaskLayout.STATE_DEAD).toList(),
            (rowsOfR, factor) -> {
              balance.out(rowsOfR);
              done.putAgain(factor);
            });
    dead.stream().filter(f -> state[f] != TaskLayout.STATE_DEAD).forEach(undecided::add);
    totals.hostFlops(again.flops());
    boolean[] fromRows = new boolean[n];
    undecided.forEach(f -> fromRows[f] = true);
    var passOn = new ArrayList<Integer>();
    for (int f = 0; f < n; f++) {
      if (pends[f]) {
        continue;
      }
      if (!fromRows[f]) {
        stage.addResidual(f, done);
      }
      if (sound[f]) {
        done.withoutRows(fronts[f]);
        done.addDropped(sink.dropped(f));
        FrontDescriptor d = program.descriptor(f);
        if (d.cm() > 0 && d.parent() >= 0 && (pends[d.parent()] || fromRows[d.parent()])) {
          passOn.add(f);
        }
      }
    }
    List<ContributionBlock> passed = fetch.blocks(fronts, passOn);
    passed.forEach(done.blocks::put);
    if (!checked) {
      balance.out(passed);
      totals.departed(balance.verify(fromRows));
    }
    totals.downloaded(fetch.doubles());
    factorOnHost(undecided.stream().mapToInt(f -> fronts[f]).sorted().toArray());
    return pends;
  }

  /**
   * Whether the executor's own comparison confirms a stage of sound fronts; if not, the sums are
   * examined on the host.
   */
  private boolean soundAndRight(FinishedStage stage) {
    StageBalance balance = stage.balance();
    double found = balance.whole(executor, stage.ended(), stage.read(), stage.sink().bits());
    boolean right = balance.within(found);
    if (right) {
      totals.departed(found);
    }
    return right;
  }

  /**
   * States of the fronts, corrected: fronts that passed leftover rows to an unfinished parent count
   * as failed, because these rows are lost.
   *
   * @throws IntegrityFailure if a front reported as sound has dead columns
   */
  private static int[] states(FinishedStage stage) {
    int[] state = stage.result().state().clone();
    for (int f = state.length - 1; f >= 0; f--) {
      int parent = stage.program().descriptor(f).parent();
      if (state[f] == TaskLayout.STATE_PASSED && !TaskLayout.isDone(state[parent])) {
        state[f] = TaskLayout.STATE_FAILED;
      }
      if (state[f] == TaskLayout.STATE_SOUND && stage.sink().dropped(f) != null) {
        throw new IntegrityFailure(
            "front %d has dependent columns and was taken for sound".formatted(stage.fronts()[f]));
      }
    }
    return state;
  }

  /**
   * Unsound fronts with none below.
   *
   * @param pends out: fronts above them
   */
  private static List<Integer> lowestUnsound(StageProgram program, int[] state, boolean[] pends) {
    var lowest = new ArrayList<Integer>();
    for (int f = 0; f < pends.length; f++) {
      int parent = program.descriptor(f).parent();
      if (pends[f] || !TaskLayout.isDone(state[f])) {
        if (!pends[f]) {
          lowest.add(f);
        }
        if (parent >= 0) {
          pends[parent] = true;
        }
      }
    }
    return lowest;
  }

  /** Fetches Q of the fronts that are not pending, assuming no dead pivot. */
  private void fetchReflectors(StageProgram program, int[] fronts, boolean[] pends) {
    var wanted = new BitSet();
    for (int f = 0; f < fronts.length; f++) {
      wanted.set(f, !pends[f]);
    }
    var fetch = new ReflectorFetch(executor, program, options.threads());
    FrontReflectors[] q = fetch.run(wanted);
    for (int f = 0; f < fronts.length; f++) {
      if (q[f] != null) {
        done.put(q[f]);
      }
    }
    totals.downloaded(fetch.doubles());
  }

  /** Factors fronts on the host from their rows, none an ancestor of another. */
  void factorOnHost(int[] fronts) {
    if (fronts.length == 0) {
      return;
    }
    RowBlock these = rows.only(fronts);
    given.use(these);
    List<ContributionBlock> in = done.blocks.inputs(fronts);
    SubtreeFactor factor = host.factor(new SubtreeProblem(analysis, fronts, these, in), options);
    done.blocks.verify(in);
    done.put(factor);
    totals.hostFlops(factor.summary().flopsDone());
  }
}
