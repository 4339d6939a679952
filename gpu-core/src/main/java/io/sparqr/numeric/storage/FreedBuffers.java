/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.storage;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;

/**
 * Frees direct and mapped buffers at once. The collector would free them as well, but some time
 * after it has found their small objects unused, and rows of R may be most of a machine's memory.
 */
final class FreedBuffers {

  private static final MethodHandle FREE = find();

  private FreedBuffers() {}

  /** By reflection, because compilers warn of the class whose name is here. */
  private static MethodHandle find() {
    try {
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field field = unsafe.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      var type = MethodType.methodType(void.class, ByteBuffer.class);
      return MethodHandles.lookup()
          .findVirtual(unsafe, "invokeCleaner", type)
          .bindTo(field.get(null));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("module jdk.unsupported is missing", e);
    }
  }

  /** Frees a buffer, which is no view of another, once. It and its views must not be used again. */
  static void free(ByteBuffer buffer) {
    try {
      FREE.invokeExact(buffer);
    } catch (Throwable e) {
      throw new IllegalStateException("memory for rows of R cannot be freed", e);
    }
  }
}
