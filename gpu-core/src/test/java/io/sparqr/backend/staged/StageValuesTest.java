/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import static java.util.Arrays.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.staged.executor.RoundExecutor.StageInput.Part;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.FaultProblem;
import io.sparqr.numeric.integrity.GivenValues;
import java.nio.DoubleBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A front's values in parts equal its values in one piece, wherever its rows are in the block. */
class StageValuesTest {

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void partsAreTheWhole(long seed) {
    var random = new Random(seed);
    SubtreeProblem p = FaultProblem.random(seed, 1).problem();
    if (seed % 2 == 0) {
      p = shuffled(p, random);
    }
    int[] fronts = p.fronts();
    var rows = new RowsByFront(p);
    var given = new GivenValues(p, 2);
    var whole = new StageValues(rows, fronts, p.inputs(), given);
    var inParts = new StageValues(rows, fronts, p.inputs(), given);
    for (int f = 0; f < fronts.length; f++) {
      int size = (int) rows.entries(fronts[f]);
      double[] expected = new double[size];
      whole.writeS(f, f + 1, DoubleBuffer.wrap(expected));
      double[] found = new double[size];
      List<Part> parts = inParts.parts(f, 1 + random.nextInt(20));
      Collections.shuffle(parts, random);
      for (Part part : parts) {
        var target = DoubleBuffer.wrap(found, (int) part.offset(), part.doubles());
        inParts.writePart(part, target);
        assertThat(target.hasRemaining()).as("seed %d, %s", seed, part).isFalse();
      }
      assertThat(found).as("seed %d, front %d", seed, f).isEqualTo(expected);
    }
    assertThat(inParts.bits()).isEqualTo(whole.bits());
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23, 24})
  void piecesOfABlockAreTheWhole(long seed) {
    var random = new Random(seed);
    SubtreeProblem p = FaultProblem.random(seed, 1).problem();
    int cm = 1 + random.nextInt(20);
    int cn = cm + random.nextInt(30);
    int rhs = random.nextInt(3);
    double[] values = random.doubles(ContributionBlock.packedLength(cm, cn), -1, 1).toArray();
    double[] right = random.doubles((long) cm * rhs, -1, 1).toArray();
    var block = new ContributionBlock(0, cm, cn, values, right, rhs);
    var in = new StageValues(new RowsByFront(p), p.fronts(), List.of(block), null);
    double[] expected = DoubleStream.concat(stream(values), stream(right)).toArray();
    double[] found = new double[expected.length];
    int step = 1 + random.nextInt(expected.length);
    for (int from = 0; from < found.length; from += step) {
      int to = Math.min(found.length, from + step);
      var target = DoubleBuffer.wrap(found, from, to - from);
      in.writeBlock(0, from, to, target);
      assertThat(target.hasRemaining()).as("seed %d, from %d", seed, from).isFalse();
    }
    assertThat(found).as("seed %d", seed).isEqualTo(expected);
    assertThat(in.bits()).isEqualTo(BitChecksum.sum(expected, 0, expected.length));
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12})
  void rowsThatChangedAreSeenWhenTheyAreReadInPartsAgain(long seed) {
    SubtreeProblem p = FaultProblem.random(seed, 1).problem();
    var rows = new RowsByFront(p);
    var given = new GivenValues(p, 2);
    int f = 0;
    while (rows.count(p.fronts()[f]) == 0) {
      f++;
    }
    read(new StageValues(rows, p.fronts(), p.inputs(), given), f);
    p.rows().value()[p.rows().rowStart()[rows.row(p.fronts()[f], 0)]] *= -1;
    var again = new StageValues(rows, p.fronts(), p.inputs(), given);
    int front = f;
    assertThatThrownBy(() -> read(again, front)).isInstanceOf(NumericalIntegrityException.class);
  }

  private static void read(StageValues values, int f) {
    for (Part part : values.parts(f, 3)) {
      values.writePart(part, DoubleBuffer.allocate(part.doubles()));
    }
  }

  /** The same rows in random order. */
  private static SubtreeProblem shuffled(SubtreeProblem p, Random random) {
    RowBlock r = p.rows();
    int rhs = r.rhsCount();
    var order = new java.util.ArrayList<Integer>();
    for (int i = 0; i < r.rows(); i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
    int entries = r.rowStart()[r.rows()];
    var to =
        new RowBlock(
            new int[r.rows()],
            new int[r.rows() + 1],
            new int[entries],
            new double[entries],
            new double[r.rows() * rhs],
            rhs);
    for (int k = 0; k < r.rows(); k++) {
      int i = order.get(k);
      int length = r.rowStart()[i + 1] - r.rowStart()[i];
      to.front()[k] = r.front()[i];
      to.rowStart()[k + 1] = to.rowStart()[k] + length;
      System.arraycopy(r.position(), r.rowStart()[i], to.position(), to.rowStart()[k], length);
      System.arraycopy(r.value(), r.rowStart()[i], to.value(), to.rowStart()[k], length);
      System.arraycopy(r.rhs(), i * rhs, to.rhs(), k * rhs, rhs);
    }
    return new SubtreeProblem(p.analysis(), p.fronts(), to, p.inputs());
  }
}
