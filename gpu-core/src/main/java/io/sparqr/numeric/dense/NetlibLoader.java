/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A second copy of netlib's classes, and of {@link NetlibKernels} on top of them. netlib chooses
 * its library once, when its classes are initialized: if Spark ML (or the application) was first,
 * the shared copy is bound to another BLAS with an unknown number of threads, or to none.
 *
 * <p>JavaCPP's own binding of dgemm would need no second library, but it copies whole arrays into
 * the native heap and back at every call, and takes no offset into them; netlib's pins them.
 */
final class NetlibLoader extends URLClassLoader {

  private static final String KERNELS = NetlibKernels.class.getName();
  private static final String NATIVE = "dev.ludovic.netlib.blas.JNIBLAS";

  /** The name of {@link java.nio.file.Files} in a class file, and what takes its place. */
  private static final byte[] FILES = constant("java/nio/file/Files");

  private static final byte[] OUR_FILES = constant("io/sparqr/numeric/dense/NativeFiles");

  private NetlibLoader(URL[] urls) {
    super("sparqr-netlib", urls, NetlibLoader.class.getClassLoader());
  }

  /** Kernels on a fresh native netlib that reads its system properties now. */
  static DenseKernels nativeKernels(String description) throws ReflectiveOperationException {
    List<URL> urls = new ArrayList<>();
    for (String name :
        List.of(KERNELS, "dev.ludovic.netlib.blas.BLAS", "org.netlib.util.booleanW")) {
      CodeSource source =
          Class.forName(name, false, NetlibLoader.class.getClassLoader())
              .getProtectionDomain()
              .getCodeSource();
      if (source == null) {
        throw new ClassNotFoundException("no code source of " + name);
      }
      urls.add(source.getLocation());
    }
    // Never closed: the kernels load classes from it for the life of the JVM.
    return kernels(new NetlibLoader(urls.toArray(new URL[0])), description);
  }

  private static DenseKernels kernels(NetlibLoader loader, String description)
      throws ReflectiveOperationException {
    // The class itself, because netlib's choice among its classes keeps to itself why one fails.
    var getInstance = loader.loadClass(NATIVE).getMethod("getInstance");
    getInstance.setAccessible(true);
    Object blas = getInstance.invoke(null);
    var constructor =
        loader
            .loadClass(KERNELS)
            .getDeclaredConstructor(
                loader.loadClass("dev.ludovic.netlib.blas.BLAS"), boolean.class, String.class);
    constructor.setAccessible(true);
    var kernels = (DenseKernels) constructor.newInstance(blas, true, description);
    String bits = KernelBits.of(kernels);
    return (DenseKernels) constructor.newInstance(blas, true, description + ", kernels " + bits);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    boolean own =
        name.equals(KERNELS)
            || name.startsWith("dev.ludovic.netlib.")
            || name.startsWith("org.netlib.");
    if (!own) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      return name.equals(NATIVE) ? findNative() : findClass(name);
    }
  }

  /** The class that writes and loads the native library, with {@link NativeFiles} for Files. */
  private Class<?> findNative() throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(NATIVE.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(NATIVE);
      }
      byte[] changed = withOurFiles(in.readAllBytes());
      return defineClass(NATIVE, changed, 0, changed.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(NATIVE, e);
    }
  }

  /**
   * A class file with another name in its table of constants (JVM specification, 4.4.7). As it is
   * if the name is not there once: then the library is written among the temporary files.
   */
  static byte[] withOurFiles(byte[] file) {
    int at = find(file, 0);
    if (at < 0 || find(file, at + 1) >= 0) {
      return file;
    }
    byte[] changed = Arrays.copyOf(file, file.length + OUR_FILES.length - FILES.length);
    System.arraycopy(OUR_FILES, 0, changed, at, OUR_FILES.length);
    int rest = at + FILES.length;
    System.arraycopy(file, rest, changed, at + OUR_FILES.length, file.length - rest);
    return changed;
  }

  private static int find(byte[] file, int from) {
    for (int at = from; at + FILES.length <= file.length; at++) {
      if (Arrays.equals(file, at, at + FILES.length, FILES, 0, FILES.length)) {
        return at;
      }
    }
    return -1;
  }

  /** A text in the table of constants: its tag 1, its length in two bytes, its letters. */
  private static byte[] constant(String name) {
    byte[] letters = name.getBytes(StandardCharsets.US_ASCII);
    byte[] all = new byte[3 + letters.length];
    all[0] = 1;
    all[2] = (byte) letters.length;
    System.arraycopy(letters, 0, all, 3, letters.length);
    return all;
  }

  @Override
  public URL getResource(String name) {
    URL own = name.contains("netlib") ? findResource(name) : null;
    return own == null ? super.getResource(name) : own;
  }
}
