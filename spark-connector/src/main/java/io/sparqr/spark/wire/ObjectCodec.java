/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/**
 * A small serializable object by Java serialization: what a partition says of itself, counts and
 * perhaps an error, which is why it is no numeric frame. What is as long as a row of A or longer
 * has a codec of its own ({@link NumberFrame}). A frame, so that RDDs hold byte arrays only and no
 * serializer of Spark's has to know our classes.
 */
public final class ObjectCodec {

  private ObjectCodec() {}

  /** As a frame. */
  public static byte[] encode(Serializable object) {
    var bytes = new ByteArrayOutputStream();
    try (var out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    } catch (IOException e) {
      throw new IllegalStateException("an object that cannot be written", e);
    }
    byte[] body = bytes.toByteArray();
    return Frame.seal(
        Frame.allocate(Frame.Kind.OBJECT, body.length, 0, 0, 0, body.length).put(body));
  }

  /** The inverse of {@link #encode}. */
  public static <T> T decode(byte[] frame, Class<T> type) {
    var b = Frame.open(frame, Frame.Kind.OBJECT);
    var in = new ByteArrayInputStream(frame, b.position(), b.remaining());
    try (var objects =
        new ObjectInputStream(in) {
          @Override
          protected Class<?> resolveClass(java.io.ObjectStreamClass c)
              throws IOException, ClassNotFoundException {
            return Class.forName(c.getName(), false, type.getClassLoader());
          }
        }) {
      return type.cast(objects.readObject());
    } catch (IOException | ClassNotFoundException e) {
      throw new WireFormatException("an object that cannot be read: " + e.getMessage(), "object");
    }
  }
}
