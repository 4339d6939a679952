/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.sparqr.error.MatrixFormatException;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * The compression of a file, recognised by its first bytes. The libraries are those that every
 * Spark distribution has: commons-compress, xz, zstd-jni.
 */
public enum Compression {
  /** Not compressed, as far as the first bytes say. */
  NONE(),
  GZIP(0x1f, 0x8b),
  BZIP2('B', 'Z', 'h'),
  XZ(0xfd, '7', 'z', 'X', 'Z', 0),
  ZSTD(0x28, 0xb5, 0x2f, 0xfd);

  private static final int LONGEST = 6;

  private final int[] magic;

  Compression(int... magic) {
    this.magic = magic;
  }

  /** The compression of a file that begins with these bytes. */
  public static Compression of(byte[] first) {
    for (Compression c : values()) {
      boolean equal = c != NONE && first.length >= c.magic.length;
      for (int k = 0; equal && k < c.magic.length; k++) {
        equal = (first[k] & 0xff) == c.magic[k];
      }
      if (equal) {
        return c;
      }
    }
    return NONE;
  }

  /** The compression of a stream that supports marks; it stays at its beginning. */
  static Compression of(InputStream marked) throws IOException {
    marked.mark(LONGEST);
    byte[] first = marked.readNBytes(LONGEST);
    marked.reset();
    return of(first);
  }

  /** The name as messages call it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The content of a stream; closing it closes the stream.
   *
   * @param source what messages call the file
   * @throws MatrixFormatException also while reading, if the compressed data are damaged or cut off
   */
  public static InputStream open(InputStream in, String source) throws IOException {
    InputStream marked = new BufferedInputStream(in, 1 << 16);
    Compression kind = of(marked);
    if (kind == NONE) {
      return marked;
    }
    try {
      return new Content(kind.decoder(marked), kind, source);
    } catch (IOException e) {
      throw damaged(kind, source, e);
    } catch (LinkageError e) {
      // A distribution without the library, or one whose native code does not load.
      throw new MatrixFormatException(
          source + ": " + kind + " cannot be read in this JVM (" + e.getMessage() + ")",
          source,
          -1);
    }
  }

  private InputStream decoder(InputStream in) throws IOException {
    return switch (this) {
      case GZIP -> new GZIPInputStream(in, 1 << 16);
      case BZIP2 -> new BZip2CompressorInputStream(in, true);
      // The limit is on the decoder's dictionary, whose size the file chooses.
      case XZ -> new XZInputStream(in, (int) Math.min(1 << 21, heap() / 4 >> 10));
      case ZSTD -> new ZstdInputStreamNoFinalizer(in);
      case NONE -> in;
    };
  }

  private static long heap() {
    return Runtime.getRuntime().maxMemory();
  }

  private static MatrixFormatException damaged(Compression kind, String source, Exception e) {
    String why = e.getMessage() == null ? "" : " (" + e.getMessage() + ")";
    return new MatrixFormatException(
        source + ": the " + kind + " stream is damaged or cut off" + why, source, -1);
  }

  /** Decoded content, with the decoder's errors as ours. */
  private static final class Content extends FilterInputStream {
    private final Compression kind;
    private final String source;

    Content(InputStream decoder, Compression kind, String source) {
      super(decoder);
      this.kind = kind;
      this.source = source;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int at, int length) throws IOException {
      try {
        return in.read(to, at, length);
      } catch (IOException | RuntimeException e) {
        // Decoders of damaged data throw either.
        throw damaged(kind, source, e);
      }
    }
  }
}
