/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sparqr.Sampling;
import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.FrameSamples.Sample;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Wrong frames of every kind: a decoder throws a {@link WireFormatException} and nothing else,
 * reads nothing from a frame whose checksum is wrong, and allocates a small multiple of the frame's
 * length, whatever the counts say. Half of the frames get a correct checksum after the change, so
 * that the decoders themselves are tested; a frame that they accept is valid.
 *
 * <p>The default is a sample of 30,000. A million takes a few minutes and prints the outcomes:
 *
 * <pre>
 * ./mvnw -q -Pquick -pl spark-connector -am test -Dtest=FrameFuzzTest \
 *   -Dsparqr.test.frames=1000000 -Dtest.seed=1 -Dsurefire.failIfNoSpecifiedTests=false
 * </pre>
 */
class FrameFuzzTest {

  private static final long SEED = Long.getLong("test.seed", 20260122L);
  private static final int FRAMES =
      Integer.getInteger("sparqr.test.frames", Sampling.WHOLE ? 300_000 : 30_000);

  /** Bytes that may be taken for one of the frame. */
  private static final int FACTOR = 16;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Bytes allocated by the last decoding. */
  private long taken;

  private final Map<String, Count> counts = new TreeMap<>();

  /** The outcomes for the frames of a kind. */
  private static final class Count {
    private int frames;
    private int sealed;
    private int accepted;
    private long mostBytes;

    @Override
    public String toString() {
      return "%8d frames, %8d with a right checksum, %8d of these accepted, at most %,9d bytes taken"
          .formatted(frames, sealed, accepted, mostBytes);
    }
  }

  @Test
  void noFrameDoesHarm() throws Exception {
    List<Sample> samples = FrameSamples.all(SEED);
    var all = new ArrayList<byte[]>();
    for (Sample s : samples) {
      s.decode().accept(s.frames());
      all.addAll(s.frames());
    }
    int tried = 0;
    for (int k = 0; tried < FRAMES; k++) {
      tried += run(k, samples, all) ? 1 : 0;
    }
    var report = new StringBuilder("seed %d, %,d frames%n".formatted(SEED, FRAMES));
    counts.forEach((name, c) -> report.append("%-17s%s%n".formatted(name, c)));
    System.out.println(report);
    // every decoder was reached, and both accepted and refused frames
    assertThat(counts).hasSize(19);
    counts.forEach((name, c) -> assertThat(c.accepted).as(name).isPositive().isLessThan(c.sealed));
  }

  /** Tries number k; false if its changes left a right frame. */
  private boolean run(int k, List<Sample> samples, List<byte[]> all) {
    var random = new Random(SEED + 1_000_003L * k);
    Sample sample = samples.get(random.nextInt(samples.size()));
    int changed = random.nextInt(sample.frames().size());
    var mutator = new FrameMutator(random);
    byte[] bad = mutator.mutate(sample.frames().get(changed), all.get(random.nextInt(all.size())));
    boolean sealed = random.nextBoolean();
    if (sealed) {
      bad = mutator.seal(bad);
    }
    byte[] tried = bad;
    if (all.stream().anyMatch(f -> Arrays.equals(f, tried))) {
      return false;
    }
    var frames = new ArrayList<>(sample.frames());
    frames.set(changed, bad);
    String what = "seed %d, number %d, %s:%s".formatted(SEED, k, sample.name(), mutator);
    long room = sample.more();
    for (byte[] f : frames) {
      room += (long) FACTOR * f.length;
    }
    Throwable thrown = decode(sample, frames);
    if (thrown != null && !(thrown instanceof WireFormatException)) {
      throw new AssertionError(what, thrown);
    }
    if (thrown == null && !sealed) {
      throw new AssertionError(what + ": read in spite of its checksum");
    }
    if (taken > room) {
      // the first run of a piece of code loads classes; memory that a frame demands is allocated
      // again in a second run
      decode(sample, frames);
    }
    if (taken > room) {
      throw new AssertionError(what + ": %,d bytes taken, %,d may be".formatted(taken, room));
    }
    Count c = counts.computeIfAbsent(sample.name(), n -> new Count());
    c.frames++;
    c.sealed += sealed ? 1 : 0;
    c.accepted += thrown == null ? 1 : 0;
    c.mostBytes = Math.max(c.mostBytes, taken);
    return true;
  }

  /** What it throws, or null; sets {@link #taken}. */
  private Throwable decode(Sample sample, List<byte[]> frames) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try {
      sample.decode().accept(frames);
      return null;
    } catch (Throwable e) {
      return e;
    } finally {
      taken = THREADS.getCurrentThreadAllocatedBytes() - before;
    }
  }
}
