/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.error.SparseQrException;
import io.sparqr.error.WireFormatException;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.net.URL;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Objects are decoded unchanged, and a frame can produce no other object. */
class ObjectCodecTest {

  record Inner(long count, TimeUnit unit) implements Serializable {}

  record Outer(int a, double[] b, byte[][] c, String d, Inner inner, SparseQrException error)
      implements Serializable {}

  record Loose(Object any) implements Serializable {}

  /** Writes an {@link Outer} as its frame would be if any class were allowed in it. */
  record Other(int a) implements Serializable {}

  private static final class Trap implements Serializable {
    private static final long serialVersionUID = 1;
    private static volatile boolean sprung;

    private void readObject(ObjectInputStream in) throws IOException {
      sprung = true;
    }
  }

  private static final Outer NONE =
      new Outer(1, new double[] {-0.0, 2}, null, "größer", new Inner(7, TimeUnit.HOURS), null);

  private static Outer back(SparseQrException error) {
    var o = new Outer(3, new double[5], new byte[][] {{1}, {}}, null, null, error);
    return ObjectCodec.decode(ObjectCodec.encode(o), Outer.class);
  }

  @Test
  void recordsComeBack() {
    assertThat(ObjectCodec.decode(ObjectCodec.encode(NONE), Outer.class))
        .usingRecursiveComparison()
        .isEqualTo(NONE);
    assertThat(back(null).c()).isDeepEqualTo(new byte[][] {{1}, {}});
  }

  @Test
  void everyErrorOfOursComesBackWithItsFieldsAndItsStack() {
    var error = new MatrixFormatException("a.mtx:7: 'x' is no number", "a.mtx", 7);
    SparseQrException found = back(error).error();
    assertThat(found).usingRecursiveComparison().isEqualTo(error);
    assertThat(found.getStackTrace()).isEqualTo(error.getStackTrace());
    var suspect = new NumericalIntegrityException(1, 2, 3, 0.5, 0.25).ofTask(9);
    suspect.addSuppressed(error);
    assertThat(back(suspect).error().getCause()).isInstanceOf(NumericalIntegrityException.class);
    assertThat(back(suspect).error().getSuppressed()[0]).hasMessage(error.getMessage());
  }

  /** An error of a caller's own class, which the driver may not even have. */
  @Test
  void theCauseOfAnErrorIsSentAsText() {
    var error = new MatrixFormatException("unreadable", "a.mtx", 7);
    Throwable chain = null;
    for (int k = 0; k < 50; k++) {
      chain = new IOException("number " + k, chain);
    }
    error.initCause(new Foreign("mine", chain));
    Throwable cause = back(error).error().getCause();
    assertThat(cause).isInstanceOf(RemoteCause.class).hasMessage("mine");
    assertThat(cause).hasToString(Foreign.class.getName() + ": mine");
    assertThat(cause.getStackTrace()).isEqualTo(error.getCause().getStackTrace());
    assertThat(cause.getCause()).hasToString("java.io.IOException: number 49");
  }

  private static final class Foreign extends Exception {
    private static final long serialVersionUID = 1;
    private final Trap trap = new Trap();

    Foreign(String message, Throwable cause) {
      super(message, cause);
    }
  }

  @Test
  void nothingElseIsRead() throws Exception {
    var map = new HashMap<URL, String>();
    map.put(new URL("http://localhost:1/"), "resolved when it is read");
    List<Serializable> wrong =
        List.of(
            map,
            new Trap(),
            "text",
            new Other(1),
            new Inner(1, TimeUnit.DAYS),
            new ArrayList<>(List.of(new Trap())),
            new Serializable[] {new Trap()},
            new MatrixFormatException("alone", "a", 1));
    for (Serializable object : wrong) {
      byte[] frame = ObjectCodec.encode(object);
      assertThatThrownBy(() -> ObjectCodec.decode(frame, Outer.class))
          .as("%s", object)
          .isInstanceOf(WireFormatException.class);
    }
    // in a place whose declared type would take it
    var error = new MatrixFormatException("unreadable", "a.mtx", 7);
    error.addSuppressed(new Foreign("suppressed", null));
    assertThat(back(error).error().getSuppressed()[0]).isInstanceOf(RemoteCause.class);
    assertThat(Trap.sprung).isFalse();
    byte[] loose = ObjectCodec.encode(new Loose("text"));
    assertThatThrownBy(() -> ObjectCodec.decode(loose, Loose.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("java.lang.Object");
  }

  /**
   * References back into the stream could encode large trees in small frames; no trees are accepted
   * here.
   */
  @Test
  void aFrameOfNothingOrOfMoreIsRefused() {
    byte[] body = ObjectCodec.encode(NONE);
    var longer =
        Frame.allocate(Frame.Kind.OBJECT, body.length - 32 + 1, 0, 0, 0, body.length - 32 + 1);
    longer.put(body, 32, body.length - 32);
    byte[] more = Frame.seal(longer);
    assertThatThrownBy(() -> ObjectCodec.decode(more, Outer.class))
        .isInstanceOf(WireFormatException.class);
    byte[] nothing = ObjectCodec.encode(null);
    assertThatThrownBy(() -> ObjectCodec.decode(nothing, Outer.class))
        .isInstanceOf(WireFormatException.class);
  }
}
