/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.SparseQrException;
import io.sparqr.error.WireFormatException;
import io.sparqr.jvm.JvmPart;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A small object by Java serialization: the figures of a partition with counts and perhaps an
 * error, for which a numeric frame would not do. Data as long as a row of A or longer have their
 * own codecs, as {@link NumberStream}. It is a frame so that RDDs contain only byte arrays and
 * Spark's serializers need not know our classes. Frame field: a = bytes of the object.
 *
 * <p>A frame is only read as a record of the type named by the caller ({@link ExpectedClasses}): no
 * other class is loaded, let alone instantiated, and no array longer than the frame is allocated.
 * The causes of our own errors, whose classes are not known in advance, are sent as {@link
 * RemoteCause}.
 */
public final class ObjectCodec {

  private static final int MOST_DEPTH = 64;
  private static final JvmPart<Map<Class<?>, ExpectedClasses>> EXPECTED =
      JvmPart.of("expected classes", ConcurrentHashMap::new);

  private ObjectCodec() {}

  /** Encodes the object as a frame. */
  public static byte[] encode(Serializable object) {
    var bytes = new ByteArrayOutputStream();
    try (var out = new Output(bytes)) {
      out.writeObject(object);
    } catch (IOException e) {
      throw new IllegalStateException("an object that cannot be written", e);
    }
    byte[] body = bytes.toByteArray();
    return Frame.seal(
        Frame.allocate(Frame.Kind.OBJECT, body.length, 0, 0, 0, body.length).put(body));
  }

  /**
   * The inverse of {@link #encode}.
   *
   * @param type a record; {@link ExpectedClasses} defines the permitted components
   * @throws WireFormatException if the frame is damaged, or contains anything else
   */
  public static <T extends Record> T decode(byte[] frame, Class<T> type) {
    var b = Frame.open(frame, Frame.Kind.OBJECT);
    Frame.require(Frame.field(b, 0) == b.remaining(), "length of an object");
    var in = new ByteArrayInputStream(frame, b.position(), b.remaining());
    ExpectedClasses expected = EXPECTED.get().computeIfAbsent(type, ExpectedClasses::new);
    try (var objects = new Input(in, expected, frame.length)) {
      T object = type.cast(objects.readObject());
      Frame.require(object != null && in.available() == 0, "object");
      return object;
    } catch (IOException | ClassNotFoundException | RuntimeException e) {
      // The checks of a record or an exception may throw anything.
      throw new WireFormatException("an object that cannot be read: " + e.getMessage(), "object");
    }
  }

  private static final class Output extends ObjectOutputStream {
    Output(ByteArrayOutputStream out) throws IOException {
      super(out);
      enableReplaceObject(true);
    }

    @Override
    protected Object replaceObject(Object object) {
      return object instanceof Throwable t
              && !(t instanceof SparseQrException)
              && !(t instanceof RemoteCause)
          ? RemoteCause.of(t)
          : object;
    }
  }

  private static final class Input extends ObjectInputStream {
    private final ExpectedClasses expected;
    private final long length;
    private int descriptors;

    Input(ByteArrayInputStream in, ExpectedClasses expected, long length) throws IOException {
      super(in);
      this.expected = expected;
      this.length = length;
      setObjectInputFilter(this::check);
    }

    /** Each class is described only once; repetitions could make the reader recurse. */
    @Override
    protected Class<?> resolveClass(ObjectStreamClass c) throws IOException {
      Class<?> found = expected.find(c.getName());
      if (++descriptors > expected.count()) {
        throw new IOException("too many classes");
      }
      return found;
    }

    @Override
    protected Class<?> resolveProxyClass(String[] interfaces) throws IOException {
      throw new IOException("a proxy is not expected");
    }

    private ObjectInputFilter.Status check(ObjectInputFilter.FilterInfo info) {
      boolean right =
          info.depth() <= MOST_DEPTH
              && info.references() <= length
              && info.arrayLength() <= length
              && (info.serialClass() == null || expected.contains(info.serialClass()));
      return right ? ObjectInputFilter.Status.ALLOWED : ObjectInputFilter.Status.REJECTED;
    }
  }
}
