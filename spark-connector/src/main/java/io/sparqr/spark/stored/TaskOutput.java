/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.stored;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.ReflectorCodec;
import java.io.Serializable;
import java.util.Iterator;

/**
 * What a subtree task leaves in storage, element by element: its {@link Report} (or a {@link
 * Refusal} and nothing else), then {@link Reflectors} if Q is kept, then its rows of R, as {@link
 * KeptFronts} or as {@link FactorFrame}s. If only x is wanted, a {@link Solution} takes the place
 * of R. Contribution blocks are not among them: they are stored apart, and for a shorter time.
 *
 * <p>All but {@link KeptFronts} are frames. Where Spark must not see our classes (a storage level
 * of bytes, a Kryo that knows only registered classes) the frames themselves are stored, and get
 * their types when they are read.
 */
public sealed interface TaskOutput extends Serializable permits TaskOutput.Framed, KeptFronts {

  /** An element that is one frame. */
  sealed interface Framed extends TaskOutput
      permits Report, Refusal, Solution, Reflectors, FactorFrame {

    /** The frame, not verified. */
    byte[] frame();
  }

  /** The task's report, for the driver and for all who read what follows. */
  @DefaultSerializer(FrameSerializer.class)
  record Report(byte[] frame) implements Framed {}

  /** In place of a report: an error that no further attempt can avoid, by {@link ObjectCodec}. */
  @DefaultSerializer(FrameSerializer.class)
  record Refusal(byte[] frame) implements Framed {}

  /** x at the task's pivots. */
  @DefaultSerializer(FrameSerializer.class)
  record Solution(byte[] frame) implements Framed {}

  /** A part of Q, by {@link ReflectorCodec}. */
  @DefaultSerializer(FrameSerializer.class)
  record Reflectors(byte[] frame) implements Framed {}

  /** Rows of R: a {@link FactorChunk}. */
  @DefaultSerializer(FrameSerializer.class)
  record FactorFrame(byte[] frame) implements Framed {}

  /**
   * The element that is this frame.
   *
   * @throws WireFormatException if a task leaves no frames of its kind
   */
  static Framed of(byte[] frame) {
    return switch (Frame.kind(frame)) {
      case TASK -> new Report(frame);
      case OBJECT -> new Refusal(frame);
      case SPARSE, SOLUTION -> new Solution(frame);
      case REFLECTORS -> new Reflectors(frame);
      case FACTOR -> new FactorFrame(frame);
      default ->
          throw new WireFormatException("a task left a " + Frame.kind(frame) + " frame", "kind");
    };
  }

  /** The elements that are these frames, each when it is asked for. */
  static Iterator<TaskOutput> ofFrames(Iterator<byte[]> frames) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return frames.hasNext();
      }

      @Override
      public TaskOutput next() {
        return of(frames.next());
      }
    };
  }

  /** Kryo's way with an element that is a frame; a record has no fields that Kryo could set. */
  final class FrameSerializer extends Serializer<Framed> {

    /** For Kryo. */
    public FrameSerializer() {
      super(false, true);
    }

    @Override
    public void write(Kryo kryo, Output out, Framed element) {
      out.writeInt(element.frame().length);
      out.writeBytes(element.frame());
    }

    @Override
    public Framed read(Kryo kryo, Input in, Class<Framed> type) {
      return of(in.readBytes(in.readInt()));
    }
  }
}
