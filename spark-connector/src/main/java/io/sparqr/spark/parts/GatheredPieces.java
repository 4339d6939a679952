/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.exchange.Told;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import scala.Tuple2;

/**
 * Tables that go by a shuffle, in {@link Pieces}: a stage that writes them, and one that merges
 * them. The driver receives figures and counts, and with them what is small of the merged frames;
 * the rest is fetched later, by tasks of the second stage that run again while the shuffle's output
 * exists, so that a lack of memory on the driver is detected before it is filled. Where all pieces
 * are small, the tasks of the first stage tell them to the driver as well, which merges them
 * itself: the second stage would take longer to begin.
 */
final class GatheredPieces<F extends Record & OfPartition, V> implements Gathered<F, V> {

  /**
   * Bytes that a partition may tell: with more the message that its task has ended would go by way
   * of a stored block.
   */
  private static final long MOST_TOLD = 512 << 10;

  private final Gathering<F, V> how;
  private final Parts<Tuple2<Integer, byte[]>> sent;
  private final List<Key> keys;
  private final List<F> figures = new ArrayList<>();
  private final long received;
  private final long payload;

  /**
   * What is known of a key.
   *
   * @param received bytes
   * @param payload bytes of the merged frames
   * @param frames number of merged frames that follow; -1: they are to be fetched
   * @param counts a frame; none: empty
   * @param figures of partitions, in frames
   */
  private record Head(
      int key, long received, long payload, int frames, byte[] counts, byte[][] figures)
      implements Serializable {}

  /** A key with the frames that have come with its head. */
  private record Key(Head head, List<byte[]> frames) {}

  <T> GatheredPieces(Gathering<F, V> how, Parts<T> parts, PassWork<T, F, V> work) {
    this.how = how;
    Pieces<V> pieces = how.pieces();
    int count = how.limits().keys();
    Told told = Told.of(parts.engine());
    long most = Math.min(MOST_TOLD, how.limits().eagerBytes() / Math.max(1, parts.count()));
    sent =
        JobScope.named(
            parts.engine(),
            how.what(),
            () ->
                parts.shuffle(
                    count, (p, in) -> tell(told, most, p, cut(p, work.of(p, in), pieces, count))));
    JobScope.run(parts.engine(), how.what(), sent::write);
    Parts<byte[]> merged = merged(pieces, how.limits().eagerBytes());
    keys =
        keys(
            told.take(0, parts.count())
                .map(frames -> mergedHere(frames, pieces, how.limits()))
                .orElseGet(() -> JobScope.run(parts.engine(), how.merged(), merged::collect)));
    for (Key key : keys) {
      for (byte[] frame : key.head.figures) {
        figures.add(ObjectCodec.decode(frame, how.figures()));
      }
    }
    figures.sort(Comparator.comparingInt(OfPartition::partition));
    received = keys.stream().mapToLong(k -> k.head.received).sum();
    payload = keys.stream().mapToLong(k -> k.head.payload).sum();
  }

  /** Tells the driver the pieces of a partition if they are small. */
  private static Iterator<Tuple2<Integer, byte[]>> tell(
      Told told, long most, int partition, List<Tuple2<Integer, byte[]>> pieces) {
    long bytes = pieces.stream().mapToLong(t -> t._2().length).sum();
    if (bytes <= most) {
      var frames = new ArrayList<byte[]>();
      for (Tuple2<Integer, byte[]> t : pieces) {
        frames.add(ByteBuffer.allocate(Integer.BYTES).putInt(t._1()).array());
        frames.add(t._2());
      }
      told.tell(partition, frames);
    }
    return pieces.iterator();
  }

  /** What the second stage would collect, of all that was told: by partition keys and frames. */
  private static <V> List<byte[]> mergedHere(
      List<List<byte[]>> told, Pieces<V> pieces, Gathering.Limits limits) {
    var byKey = new ArrayList<List<Tuple2<Integer, byte[]>>>();
    for (int k = 0; k < limits.keys(); k++) {
      byKey.add(new ArrayList<>());
    }
    for (List<byte[]> frames : told) {
      for (int i = 0; i < frames.size(); i += 2) {
        int key = ByteBuffer.wrap(frames.get(i)).getInt();
        byKey.get(key).add(new Tuple2<>(key, frames.get(i + 1)));
      }
    }
    var merged = new ArrayList<byte[]>();
    for (int k = 0; k < limits.keys(); k++) {
      merge(k, byKey.get(k).iterator(), pieces.merging(), limits.eagerBytes())
          .forEachRemaining(merged::add);
    }
    return merged;
  }

  private static <F extends Record & OfPartition, V> List<Tuple2<Integer, byte[]>> cut(
      int partition, Found<F, V> found, Pieces<V> pieces, int keys) {
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    out.add(new Tuple2<>(partition % keys, ObjectCodec.encode(found.figures())));
    pieces.cut(partition, found.table(), keys, (key, frame) -> out.add(new Tuple2<>(key, frame)));
    return out;
  }

  private Parts<byte[]> merged(Pieces<V> pieces, long mostBytes) {
    return sent.map((key, in) -> merge(key, in, pieces.merging(), mostBytes))
        .named("sparqr " + how.merged());
  }

  /** The head of a key, and its frames if they are small enough. */
  private static Iterator<byte[]> merge(
      int key, Iterator<Tuple2<Integer, byte[]>> in, Pieces.Merging merging, long mostBytes) {
    var figures = new ArrayList<byte[]>();
    long received = 0;
    while (in.hasNext()) {
      byte[] frame = in.next()._2();
      received += frame.length;
      if (Frame.kind(frame) == Frame.Kind.OBJECT) {
        figures.add(frame);
      } else {
        merging.add(frame);
      }
    }
    byte[] counts =
        merging.counts().map(c -> ObjectCodec.encode((Serializable) c)).orElse(new byte[0]);
    List<byte[]> frames = merging.frames(key);
    long payload = frames.stream().mapToLong(f -> f.length).sum();
    boolean send = payload <= mostBytes;
    var out = new ArrayList<byte[]>();
    out.add(
        ObjectCodec.encode(
            new Head(
                key,
                received,
                payload,
                send ? frames.size() : -1,
                counts,
                figures.toArray(byte[][]::new))));
    out.addAll(send ? frames : List.of());
    return out.iterator();
  }

  private static List<Key> keys(List<byte[]> elements) {
    var keys = new ArrayList<Key>();
    for (int k = 0; k < elements.size(); ) {
      Head head = ObjectCodec.decode(elements.get(k++), Head.class);
      int count = Math.max(0, head.frames);
      keys.add(new Key(head, elements.subList(k, k + count)));
      k += count;
    }
    return keys;
  }

  @Override
  public List<F> figures() {
    return figures;
  }

  @Override
  public <C extends Record> List<C> counts(Class<C> type) {
    return keys.stream()
        .map(k -> k.head.counts)
        .filter(c -> c.length > 0)
        .map(c -> ObjectCodec.decode(c, type))
        .toList();
  }

  @Override
  public long shuffleBytes() {
    return received;
  }

  @Override
  public long payload() {
    return payload;
  }

  @Override
  public Parts<Tuple2<Integer, byte[]>> sent() {
    return sent;
  }

  @Override
  public List<V> tables() {
    return tables(how.pieces());
  }

  @Override
  public List<V> tables(Pieces<V> pieces) {
    Parts<byte[]> complete = merged(pieces, Long.MAX_VALUE);
    var frames = new ArrayList<byte[]>();
    List<Integer> batch = new ArrayList<>();
    long bytes = 0;
    for (Key key : keys) {
      frames.addAll(key.frames);
      if (key.head.frames >= 0) {
        continue;
      }
      if (bytes + key.head.payload > how.limits().batchBytes() && !batch.isEmpty()) {
        fetch(complete, batch, frames);
        batch.clear();
        bytes = 0;
      }
      batch.add(key.head.key);
      bytes += key.head.payload;
    }
    keys.clear();
    if (!batch.isEmpty()) {
      fetch(complete, batch, frames);
    }
    return new ArrayList<>(List.of(pieces.table(frames)));
  }

  /** One job for some keys. */
  private void fetch(Parts<byte[]> complete, List<Integer> keys, List<byte[]> to) {
    int[] partitions = keys.stream().mapToInt(k -> k).toArray();
    for (List<byte[]> part :
        JobScope.run(
            complete.engine(),
            how.merged() + ", to the driver",
            () -> complete.collect(partitions))) {
      to.addAll(part.subList(1, part.size()));
    }
  }
}
