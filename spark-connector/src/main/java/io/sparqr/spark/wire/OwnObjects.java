/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.io.UncheckedIOException;

/**
 * Objects as bytes of Java's serialization, read with the class loader of Sparqr's own classes. For
 * what tasks and driver of one application give each other where {@link ObjectCodec}'s records do
 * not fit: Spark reads it with the application's class loader, which does not know our classes
 * where the jar is a Spark Connect session's artifact.
 */
public final class OwnObjects {

  private OwnObjects() {}

  /** As bytes. */
  public static byte[] bytes(Serializable object) {
    var bytes = new ByteArrayOutputStream();
    try (var out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The inverse of {@link #bytes}. */
  public static <T> T object(byte[] bytes, Class<T> type) {
    try (var in = input(new ByteArrayInputStream(bytes))) {
      return type.cast(in.readObject());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("bytes of a class that is not here", e);
    }
  }

  /** A stream of objects of these classes. */
  public static ObjectInputStream input(InputStream in) throws IOException {
    return new Own(in);
  }

  private static final class Own extends ObjectInputStream {
    Own(InputStream in) throws IOException {
      super(in);
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass c)
        throws IOException, ClassNotFoundException {
      try {
        return Class.forName(c.getName(), false, OwnObjects.class.getClassLoader());
      } catch (ClassNotFoundException e) {
        return super.resolveClass(c);
      }
    }
  }
}
