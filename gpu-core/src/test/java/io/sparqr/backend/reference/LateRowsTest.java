/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static io.sparqr.numeric.FrontFactors.requireSame;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.storage.LateRows;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.numeric.storage.RowStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** R that is on an executor and nowhere else: what it brings to the host, and how it is lost. */
class LateRowsTest {

  private static final SubtreeProblem PROBLEM = DeviceCases.whole("gen:cells2d20");
  private static final FactorOptions BESIDE = new FactorOptions(1e-10, 2, 0).staying(true);
  private static final FactorOptions ALONE = BESIDE.alone(true);

  @TempDir private Path folder;
  private final RowBudget budget = new RowBudget(1L << 30);
  private final AtomicReference<HeapRows> device = new AtomicReference<>();
  private RowStore store;

  @AfterEach
  void nothingIsLeft() {
    if (store != null) {
      store.close();
    }
    assertThat(budget.memoryBytes()).isZero();
  }

  private LateRows late(SubtreeProblem problem) {
    SubtreeFactor factor = KeptRowsTest.factor(null, KeptRowsTest.noted(device), problem, ALONE);
    assertThat(factor.fronts()).isEmpty();
    assertThat(factor.residence().alone()).isTrue();
    ResidentFactor there = factor.residence().factor().orElseThrow();
    store = new RowStore(budget, folder);
    return new LateRows(there, store, 2);
  }

  @Test
  void fetchedRowsAreThoseThatAreReturnedOtherwise() {
    for (SubtreeProblem p : List.of(PROBLEM, DeviceCases.twoLargeFronts())) {
      SubtreeFactor beside = KeptRowsTest.factor(null, k -> k, p, BESIDE);
      SubtreeFactor alone = KeptRowsTest.factor(null, k -> k, p, ALONE);
      assertThat(alone.summary().rank()).isEqualTo(beside.summary().rank()).isPositive();
      assertThat(alone.residualSquares()).isEqualTo(beside.residualSquares());
      assertThat(alone.summary().normDeparture()).isEqualTo(beside.summary().normDeparture());
      long entries = beside.fronts().stream().mapToLong(FrontFactor::length).sum();
      assertThat(alone.residence().factor().orElseThrow().entries()).isEqualTo(entries);
      LateRows late = late(p);
      assertThat(budget.memoryBytes()).as("nothing before it is asked for").isZero();
      requireSame(late.rows().orElseThrow(), beside.fronts());
      assertThat(budget.memoryBytes()).isGreaterThanOrEqualTo(8 * entries);
      assertThat(late.rows().orElseThrow()).isSameAs(late.rows().orElseThrow());
      assertThat(late.lost()).isEmpty();
      store.close();
      store = null;
    }
  }

  @Test
  void rowsThatGiveWayAreFetchedBefore() {
    LateRows late = late(PROBLEM);
    device.get().giveWay();
    assertThat(device.get().areThere()).isFalse();
    requireSame(
        late.rows().orElseThrow(), KeptRowsTest.factor(null, k -> k, PROBLEM, BESIDE).fronts());
  }

  @Test
  void rowsThatNobodyNeedsAreNotFetched() {
    LateRows late = late(PROBLEM);
    late.close();
    device.get().giveWay();
    assertThat(budget.memoryBytes()).isZero();
    assertThat(late.rows()).isEmpty();
    // nor into memory that is freed
    LateRows other = late(PROBLEM);
    store.close();
    store = null;
    device.get().giveWay();
    assertThat(other.rows()).isEmpty();
    assertThat(other.lost()).contains("freed");
  }

  /** The device is lost, the disk is full, a bit has changed: no rows, and the reason. */
  @Test
  void lostRowsAreSaidToBeLost() throws Exception {
    LateRows gone = late(PROBLEM);
    device.get().close();
    assertThat(gone.rows()).isEmpty();
    assertThat(gone.lost()).contains("no longer");

    LateRows changed = late(PROBLEM);
    double[] out = device.get().out;
    out[out.length / 2] = Math.nextUp(out[out.length / 2]);
    assertThat(changed.rows()).isEmpty();
    assertThat(changed.lost()).contains("has changed");
    store.close();

    store = new RowStore(new RowBudget(0), Files.createFile(folder.resolve("file")));
    SubtreeFactor factor = KeptRowsTest.factor(null, KeptRowsTest.noted(device), PROBLEM, ALONE);
    LateRows full = new LateRows(factor.residence().factor().orElseThrow(), store, 2);
    device.get().giveWay();
    assertThat(full.rows()).isEmpty();
    assertThat(full.lost()).isNotEmpty();
  }

  /** No room, dead columns: rows are returned as if nobody had asked for anything else. */
  @Test
  void whatCannotStayIsReturned() {
    UnaryOperator<KeptRows> noRoom = k -> null;
    SubtreeFactor returned = KeptRowsTest.factor(null, noRoom, PROBLEM, ALONE);
    Residence none = returned.residence();
    assertThat(none.alone()).isFalse();
    assertThat(none.factor()).isEmpty();
    assertThat(none.reason()).contains("no room");
    requireSame(
        returned.fronts(),
        KeptRowsTest.factor(null, k -> k, PROBLEM, new FactorOptions(1e-10, 2, 0)).fronts());

    // a tolerance that some pivots do not pass
    var strict = new FactorOptions(1.5, 2, 0);
    SubtreeFactor without =
        KeptRowsTest.factor(null, k -> k, PROBLEM, strict.staying(true).alone(true));
    assertThat(without.summary().rank()).isLessThan(returned.summary().rank());
    assertThat(without.residence().alone()).isFalse();
    assertThat(without.residence().reason()).isNotEmpty();
    requireSame(without.fronts(), KeptRowsTest.factor(null, k -> k, PROBLEM, strict).fronts());
  }

  /** A repeated task and Q do not stay. */
  @Test
  void demandsThatNeedRowsReturnThem() {
    SubtreeFactor beside = KeptRowsTest.factor(null, k -> k, PROBLEM, BESIDE);
    assertThat(KeptRowsTest.factor(null, k -> k, PROBLEM, ALONE).fronts()).isEmpty();
    var q = new FactorOptions(1e-10, 2, 0, true).staying(true).alone(true);
    for (FactorOptions o : List.of(q, ALONE.safely(), ALONE.staying(false))) {
      SubtreeFactor f = KeptRowsTest.factor(null, k -> k, PROBLEM, o);
      assertThat(f.residence().alone()).as("%s", o).isFalse();
      assertThat(f.residence().factor()).as("%s", o).isEmpty();
      assertThat(f.reflectors()).hasSize(o == q ? PROBLEM.fronts().length : 0);
      assertThat(f.fronts()).hasSameSizeAs(beside.fronts());
      int columns = PROBLEM.analysis().columns();
      double norm = Tolerances.norm(PROBLEM.rows().value());
      for (int k = 0; k < f.fronts().size(); k++) {
        Tolerances.requireClose(
            TestMatrices.rowsOfR(f.fronts().get(k)),
            TestMatrices.rowsOfR(beside.fronts().get(k)),
            Tolerances.of(PROBLEM.rows().rows(), columns, norm),
            "front " + k + ", " + o);
      }
    }
  }

  /** Several readers share them. */
  @Test
  void noReaderReplacesARow() {
    List<FrontFactor> rows = late(PROBLEM).rows().orElseThrow();
    assertThatThrownBy(() -> rows.set(0, rows.get(1)))
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
