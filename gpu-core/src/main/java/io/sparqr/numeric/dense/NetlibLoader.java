/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

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
    var loader = new NetlibLoader(urls.toArray(new URL[0]));
    // netlib logs a warning for every implementation that fails to load, starting with the vector
    // module's.
    Logger log = Logger.getLogger("dev.ludovic.netlib.blas.InstanceBuilder");
    Level level = log.getLevel();
    log.setLevel(Level.OFF);
    try {
      return kernels(loader, description);
    } finally {
      log.setLevel(level);
    }
  }

  private static DenseKernels kernels(NetlibLoader loader, String description)
      throws ReflectiveOperationException {
    Object blas =
        loader
            .loadClass("dev.ludovic.netlib.blas.NativeBLAS")
            .getMethod("getInstance")
            .invoke(null);
    var constructor =
        loader
            .loadClass(KERNELS)
            .getDeclaredConstructor(
                loader.loadClass("dev.ludovic.netlib.blas.BLAS"), boolean.class, String.class);
    constructor.setAccessible(true);
    return (DenseKernels) constructor.newInstance(blas, true, description);
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
      return loaded == null ? findClass(name) : loaded;
    }
  }

  @Override
  public URL getResource(String name) {
    URL own = name.contains("netlib") ? findResource(name) : null;
    return own == null ? super.getResource(name) : own;
  }
}
