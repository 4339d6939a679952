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
 * Objects by Java serialization, read with the class loader of Sparqr's own classes. Used between
 * tasks and driver of one application for data outside the records of {@link ObjectCodec}: Spark
 * itself would use the application's class loader, which does not see our classes if the jar is an
 * artifact of a Spark Connect session.
 */
public final class OwnObjects {

  private OwnObjects() {}

  /** Encodes the object. */
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

  /** A stream of objects with these classes. */
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
