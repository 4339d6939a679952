/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;

/**
 * A design as it is broadcast: bytes, which any serializer of Spark's carries, and the design that
 * they are, made once a JVM.
 */
final class SharedDesign implements Serializable {

  private static final long serialVersionUID = 1;

  private final byte[] bytes;
  private transient volatile Design design;

  SharedDesign(Design design) {
    var out = new ByteArrayOutputStream();
    try (var objects = new ObjectOutputStream(out)) {
      objects.writeObject(design);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    bytes = out.toByteArray();
    this.design = design;
  }

  Design design() {
    Design known = design;
    if (known == null) {
      known = read();
      design = known;
    }
    return known;
  }

  private synchronized Design read() {
    if (design != null) {
      return design;
    }
    var loader = Thread.currentThread().getContextClassLoader();
    try (var objects =
        new ObjectInputStream(new ByteArrayInputStream(bytes)) {
          @Override
          protected Class<?> resolveClass(java.io.ObjectStreamClass c)
              throws IOException, ClassNotFoundException {
            try {
              return Class.forName(c.getName(), false, loader);
            } catch (ClassNotFoundException e) {
              return super.resolveClass(c);
            }
          }
        }) {
      return (Design) objects.readObject();
    } catch (IOException | ClassNotFoundException e) {
      throw new IllegalStateException("a design that was broadcast cannot be read", e);
    }
  }
}
