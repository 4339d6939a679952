/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.ContributionRhs;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.spark.stored.FactorChunk;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Every frame is decoded as it was encoded; every damaged one is refused. */
class CodecTest {

  private static final long SEED = Long.getLong("test.seed", 20260104L);
  private final Random random = new Random(SEED);

  private double[] values(int n) {
    return random.doubles(n, -1, 1).toArray();
  }

  private byte[] batch(int partition, int sequence, int rows) {
    var b = new RowBatchCodec.Builder(2);
    for (int i = 0; i < rows; i++) {
      int[] position = random.ints(4, 0, 100).distinct().sorted().toArray();
      b.add(i, position, values(4), 0, position.length, values(2), 0);
    }
    return b.take(partition, sequence);
  }

  @Test
  void rowBatchesComeBackInTheOrderOfTheInput() {
    List<byte[]> batches = new ArrayList<>();
    for (int p = 0; p < 3; p++) {
      for (int s = 0; s < 3; s++) {
        batches.add(batch(p, s, 30 * p + s));
      }
    }
    RowBlock ordered = RowBatchCodec.decode(batches, 2);
    Collections.shuffle(batches, random);
    RowBlock shuffled = RowBatchCodec.decode(batches, 2, 3);
    assertThat(ordered.rows()).isEqualTo(3 * 90 + 9);
    assertThat(shuffled.front()).isEqualTo(ordered.front());
    assertThat(shuffled.rowStart()).isEqualTo(ordered.rowStart());
    assertThat(shuffled.position()).isEqualTo(ordered.position());
    assertThat(shuffled.value()).as("seed %d", SEED).isEqualTo(ordered.value());
    assertThat(shuffled.rhs()).isEqualTo(ordered.rhs());
  }

  @Test
  void everyFlippedBitIsFound() {
    byte[] good = batch(1, 2, 3);
    for (int k = 0; k < good.length; k++) {
      byte[] bad = good.clone();
      bad[k] ^= (byte) (1 << random.nextInt(8));
      assertThatThrownBy(() -> Frame.open(bad, Frame.Kind.ROWS))
          .as("byte %d, seed %d", k, SEED)
          .isInstanceOf(WireFormatException.class);
    }
    byte[] cut = java.util.Arrays.copyOf(good, good.length - 1);
    assertThatThrownBy(() -> Frame.open(cut, Frame.Kind.ROWS))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("length");
    assertThatThrownBy(() -> Frame.open(good, Frame.Kind.BLOCK))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("kind");
    byte[] renamed = good.clone();
    renamed[6] = (byte) Frame.Kind.BLOCK.ordinal();
    assertThatThrownBy(() -> Frame.open(renamed, Frame.Kind.BLOCK))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("checksum");
    assertThatThrownBy(() -> Frame.peek(new byte[5], 0)).isInstanceOf(WireFormatException.class);
    assertThatThrownBy(() -> Frame.open(new byte[5], Frame.Kind.ROWS))
        .isInstanceOf(WireFormatException.class);
  }

  @Test
  void blocksOfAnySizeGoInChunks() {
    for (int chunk : new int[] {1, 3, 7, 1000}) {
      for (int cm : new int[] {0, 1, 4, 6}) {
        var block =
            new ContributionBlock(
                9, cm, 6, values((int) ContributionBlock.packedLength(cm, 6)), values(2 * cm), 2);
        var other = new ContributionBlock(3, 1, 1, values(1), values(2), 2);
        List<byte[]> chunks = new ArrayList<>(new BlockCodec(chunk).encode(block));
        chunks.addAll(new BlockCodec(chunk).encode(other));
        Collections.shuffle(chunks, random);
        List<ContributionBlock> back = BlockCodec.decode(chunks.iterator());
        assertThat(back).extracting(ContributionBlock::front).containsExactly(3, 9);
        assertThat(back.get(1).cm()).isEqualTo(cm);
        assertThat(back.get(1).values()).as("seed %d", SEED).isEqualTo(block.values());
        assertThat(back.get(1).rhs()).isEqualTo(block.rhs());
      }
    }
    var block = new ContributionBlock(9, 3, 6, values(15), values(3), 1);
    List<byte[]> chunks = new BlockCodec(4).encode(block);
    List<byte[]> doubled = new ArrayList<>(chunks);
    doubled.set(1, chunks.get(0)); // as many values as there should be
    assertThatThrownBy(() -> BlockCodec.decode(doubled.iterator()))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("does not fit");
    assertThatThrownBy(() -> BlockCodec.decode(chunks.subList(1, chunks.size()).iterator()))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("missing");
  }

  @Test
  void rowsOfRLieWhereTheyWerePut() {
    List<FrontFactor> factors = new ArrayList<>();
    for (int f = 0; f < 6; f++) {
      int[] live = f == 2 ? new int[0] : f == 3 ? new int[] {0, 2} : new int[] {0, 1, 2};
      int fn = 5 + f;
      int length = 0;
      for (int k : live) {
        length += fn - k;
      }
      factors.add(new FrontFactor(10 + f, fn, live, values(length), values(2 * live.length), 2));
    }
    for (int k = 0; k < 8; k++) {
      long limit = new long[] {1, 100, 300, 1 << 20}[k % 4];
      int threads = 1 + 2 * (k / 4);
      int front = 0;
      int row = 0;
      var left = new ArrayDeque<>(factors);
      Iterator<byte[]> chunks = FactorChunk.encode(left, 2, threads, limit);
      while (chunks.hasNext()) {
        FactorChunk chunk = FactorChunk.open(chunks.next());
        for (int s = 0; s < chunk.segments(); s++) {
          FactorChunk.Segment segment = chunk.segment(s);
          while (row == factors.get(front).rank()) {
            front++;
            row = 0;
          }
          FrontFactor f = factors.get(front);
          assertThat(segment.front()).isEqualTo(f.front());
          for (int i = 0; i < segment.rows(); i++, row++) {
            check(f, row, segment, i);
          }
        }
        if (threads == 1) {
          assertThat(left).as("fronts not let go of").hasSizeLessThanOrEqualTo(6 - front);
        }
      }
      assertThat(left).isEmpty();
      assertThat(front).isEqualTo(5);
      assertThat(row).isEqualTo(3);
    }
  }

  @Test
  void countsOfRThatDoNotFitAreRefused() {
    var factors =
        new ArrayDeque<>(
            List.of(new FrontFactor(4, 5, new int[] {0, 2, 3}, values(10), values(3), 1)));
    byte[] good = FactorChunk.encode(factors, 1, 1, 1 << 20).next();
    FactorChunk.open(good);
    int body = Frame.HEADER;
    int[][] wrong = {
      {16, 0},
      {16, 2},
      {16, -1},
      {24, 2},
      {28, 0},
      {28, -1}, // segments, rows, right-hand sides
      {body + 4, 3},
      {body + 4, 6},
      {body + 8, 0},
      {body + 8, -1},
      {body + 8, 2}, // columns, rows
      {body + 12, -1},
      {body + 12, 2},
      {body + 20, 2},
      {body + 20, 5} // pivots
    };
    for (int[] w : wrong) {
      var bad = java.nio.ByteBuffer.wrap(good.clone()).order(java.nio.ByteOrder.LITTLE_ENDIAN);
      Frame.seal(bad.putInt(w[0], w[1]));
      assertThatThrownBy(() -> FactorChunk.open(bad.array()))
          .as("%d at %d", w[1], w[0])
          .isInstanceOf(WireFormatException.class);
    }
    // as many values, but of rows that do not descend
    var mixed = java.nio.ByteBuffer.wrap(good.clone()).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    Frame.seal(mixed.putInt(body + 16, 3).putInt(body + 20, 2));
    assertThatThrownBy(() -> FactorChunk.open(mixed.array()))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("pivots");
    // a segment without rows in a frame without any
    var none = Frame.allocate(Frame.Kind.FACTOR, 1, 0, 0, 1, 12).putInt(4).putInt(1 << 30);
    assertThatThrownBy(() -> FactorChunk.open(Frame.seal(none.putInt(0))))
        .isInstanceOf(WireFormatException.class);
  }

  private static void check(FrontFactor f, int row, FactorChunk.Segment segment, int i) {
    int at = 0;
    for (int k = 0; k < row; k++) {
      at += f.fn() - f.livePivot()[k];
    }
    int pivot = f.livePivot()[row];
    assertThat(segment.livePivot(i)).isEqualTo(pivot);
    double[] into = new double[f.fn()];
    segment.row(i, into);
    for (int k = pivot; k < f.fn(); k++) {
      assertThat(into[k]).isEqualTo(f.values().get(at + k - pivot));
    }
    assertThat(segment.rhs(i, 1)).isEqualTo(f.rhs()[2 * row + 1]);
  }

  @Test
  void vectorsPatternsAndReportsComeBack() {
    double[] v = values(10);
    byte[] chunk = VectorCodec.encodeChunk(4, 7, v, 2, 9);
    assertThat(VectorCodec.decodeChunk(chunk)).isEqualTo(java.util.Arrays.copyOfRange(v, 2, 9));
    assertThat(VectorCodec.partition(chunk)).isEqualTo(4);
    assertThat(VectorCodec.chunk(chunk)).isEqualTo(7);
    var sparse = new VectorCodec.Sparse(new int[] {1, 5}, values(6), 3);
    VectorCodec.Sparse back = VectorCodec.decodeSparse(VectorCodec.encodeSparse(sparse));
    assertThat(back.position()).isEqualTo(sparse.position());
    assertThat(back.value()).isEqualTo(sparse.value());
    var patterns =
        new PatternCodec.Patterns(
            new long[] {1L << 40, 2}, new int[] {0, 0, 3}, new int[] {1, 2, 9});
    PatternCodec.Patterns p = PatternCodec.decode(PatternCodec.encode(0, patterns));
    assertThat(p.multiplicity()).isEqualTo(patterns.multiplicity());
    assertThat(p.start()).isEqualTo(patterns.start());
    assertThat(p.column()).isEqualTo(patterns.column());
  }

  /** A length beyond the entries that are left. */
  @Test
  void lengthsOfPatternsThatAreTooLongAreRefused() {
    var two =
        new PatternCodec.Patterns(new long[] {1, 1}, new int[] {0, 1, 3}, new int[] {4, 2, 9});
    var bad = java.nio.ByteBuffer.wrap(PatternCodec.encode(0, two));
    bad.order(java.nio.ByteOrder.LITTLE_ENDIAN);
    // multiplicity 1, length 1, first column; multiplicity 1, then this length
    Frame.seal(bad.put(Frame.HEADER + 4, (byte) 0x7f));
    assertThatThrownBy(() -> PatternCodec.decode(bad.array()))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("lengths of patterns");
  }

  private FrontReflectors reflectors(int front, int rank, int cm, int blocks) {
    int rows = rank + cm + 3;
    int[] own = random.ints(0, rows).distinct().limit(rows - 2).toArray();
    int[] result = random.ints(0, rows).distinct().limit(rank + cm).toArray();
    int[] live = new int[rank];
    boolean[] negative = new boolean[rank];
    for (int i = 0; i < rank; i++) {
      live[i] = 2 * i;
      negative[i] = random.nextBoolean();
    }
    var list = new ArrayList<ReflectorBlock>();
    for (int b = 0; b < blocks; b++) {
      int[] segments = b % 2 == 0 ? new int[] {0, rows} : new int[] {1, 2, 0, 1};
      int n = b % 2 == 0 ? rows : 3;
      int[] first = {0, 1, 1};
      int[] length = {n, n - 1, 1};
      list.add(new ReflectorBlock(segments, first, length, values(3), values(2 * n - 3)));
    }
    int[] child = {front - 2, front - 1};
    return new FrontReflectors(
        front,
        rows,
        own,
        new FrontReflectors.ChildRows(child, new int[] {0, 1, 2}, new int[] {0, 1}),
        live,
        negative,
        result,
        list);
  }

  private record Seen(List<FrontReflectors> fronts, List<List<ReflectorBlock>> blocks)
      implements ReflectorCodec.Visitor {
    @Override
    public void front(FrontReflectors front) {
      fronts.add(front);
      blocks.add(new ArrayList<>());
    }

    @Override
    public void block(ReflectorBlock block) {
      blocks.get(blocks.size() - 1).add(block);
    }
  }

  @Test
  void reflectorsComeBackWhateverTheFrames() {
    List<FrontReflectors> given = new ArrayList<>();
    for (int f = 0; f < 5; f++) {
      given.add(reflectors(10 + f, f, 4 - f, f));
    }
    for (int[] limit : new int[][] {{1, 1}, {200, 1}, {300, 12}, {1 << 20, 1 << 20}}) {
      var seen = new Seen(new ArrayList<>(), new ArrayList<>());
      for (byte[] frame : ReflectorCodec.encode(new ArrayList<>(given), limit[0], limit[1])) {
        ReflectorCodec.read(frame, seen);
      }
      assertThat(seen.fronts).hasSameSizeAs(given);
      for (int f = 0; f < given.size(); f++) {
        assertThat(seen.fronts.get(f))
            .usingRecursiveComparison()
            .isEqualTo(given.get(f).withoutBlocks());
        int width = 3;
        double[] y = values(given.get(f).rows() * width);
        double[] z = y.clone();
        for (ReflectorBlock b : given.get(f).blocks()) {
          b.applyTransposed(y, given.get(f).rows(), width, new double[0]);
        }
        for (ReflectorBlock b : seen.blocks.get(f)) {
          b.applyTransposed(z, given.get(f).rows(), width, new double[0]);
        }
        assertThat(z).as("seed %d, front %d", SEED, f).isEqualTo(y);
      }
    }
  }

  @Test
  void damagedReflectorsAreRefused() {
    byte[] good = ReflectorCodec.encode(new ArrayList<>(List.of(reflectors(4, 2, 1, 2)))).get(0);
    var nobody = new Seen(new ArrayList<>(), new ArrayList<>());
    for (int k = 0; k < good.length; k++) {
      byte[] bad = good.clone();
      bad[k] ^= (byte) (1 << random.nextInt(8));
      assertThatThrownBy(() -> ReflectorCodec.read(bad, nobody))
          .as("byte %d, seed %d", k, SEED)
          .isInstanceOf(WireFormatException.class);
    }
    // kind, then counts that do not fit together, under a right checksum
    for (int k : new int[] {0, 12, 16, 20, 24, 28}) {
      var wrong = java.nio.ByteBuffer.wrap(good.clone()).order(java.nio.ByteOrder.LITTLE_ENDIAN);
      wrong.putInt(Frame.HEADER + k, 1 << 20);
      Frame.seal(wrong);
      assertThatThrownBy(() -> ReflectorCodec.read(wrong.array(), nobody))
          .as("count at %d", k)
          .isInstanceOf(WireFormatException.class);
    }
  }

  @Test
  void partsOfQTransposedBComeBack() {
    var block = new ContributionRhs(7, values(6));
    var r =
        new ReflectedCodec.Reflected(
            3,
            new int[] {4, 9},
            values(6),
            values(3),
            List.of(block, new ContributionRhs(8, values(3))));
    ReflectedCodec.Reflected back = ReflectedCodec.decode(ReflectedCodec.encode(r));
    assertThat(back).usingRecursiveComparison().isEqualTo(r);
  }

  @Test
  void aChangeComesBackAndThatOfTheLowestPartitionIsThrown() {
    byte[] third = ChangeCodec.encode(new InputChangedException("the third", 3, 10, 9, 20, -1));
    InputChangedException back = ChangeCodec.decode(third);
    assertThat(back).hasMessage("the third");
    assertThat(back.partition()).hasValue(3);
    assertThat(back.firstRows()).isEqualTo(10);
    assertThat(back.laterRows()).hasValue(9);
    assertThat(back.firstNonzeros()).isEqualTo(20);
    assertThat(back.laterNonzeros()).isEmpty();
    byte[] first = ChangeCodec.encode(new InputChangedException("the first", -1, 1, 2, 3, 4));
    byte[] rows = batch(0, 0, 3);
    ChangeCodec.refuse(List.of(rows, batch(1, 0, 2)));
    assertThatThrownBy(() -> ChangeCodec.refuse(List.of(rows, third, first, third)))
        .isInstanceOf(InputChangedException.class)
        .hasMessage("the first");
    third[40] ^= 1;
    assertThatThrownBy(() -> ChangeCodec.decode(third)).isInstanceOf(WireFormatException.class);
  }
}
