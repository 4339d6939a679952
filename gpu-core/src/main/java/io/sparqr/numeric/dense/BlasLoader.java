/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import dev.ludovic.netlib.blas.JavaBLAS;
import io.sparqr.configuration.Keys;
import io.sparqr.configuration.Mounts;
import io.sparqr.configuration.PrivateFolder;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.openblas.global.openblas_nolapack;

/**
 * Loads the BLAS once per JVM: OpenBLAS from its Maven artifact behind netlib's JNI, with one
 * thread per call; pure Java if that does not load or if {@code -Dsparqr.blas=java} (or the
 * environment variable SPARQR_BLAS=java) selects it. OpenBLAS chooses its kernels by
 * OPENBLAS_CORETYPE, read from the environment when it is loaded.
 */
public final class BlasLoader {

  /** JavaCPP uses both spellings. */
  private static final String CACHE = "org.bytedeco.javacpp.cachedir";

  private static final String CACHE_TOO = "org.bytedeco.javacpp.cacheDir";

  /** Of the linker: a library on a file system that native code may not be run from. */
  private static final String NOEXEC = "failed to map segment";

  private static final String NETLIB_PATH = "dev.ludovic.netlib.blas.nativeLibPath";

  private BlasLoader() {}

  /** The kernels of this JVM; the first call loads them. Never throws. */
  public static DenseKernels kernels() {
    return Holder.KERNELS;
  }

  /** Pure Java kernels, even if a native BLAS is available. */
  public static DenseKernels javaKernels(String reason) {
    return new NetlibKernels(JavaBLAS.getInstance(), false, "pure Java BLAS (" + reason + ")");
  }

  private static final class Holder {
    static final DenseKernels KERNELS = load();
  }

  private static DenseKernels load() {
    String asked = Keys.BLAS.find(System::getProperty).orElse(System.getenv("SPARQR_BLAS"));
    if ("java".equals(asked)) {
      return javaKernels("asked for by sparqr.blas=java");
    }
    Optional<String> unfit =
        Optional.ofNullable(System.getenv(CoreType.VARIABLE)).flatMap(CoreType::unfit);
    if (unfit.isPresent()) {
      return fallback(unfit.get());
    }
    try {
      return openBlas();
    } catch (LinkageError | RuntimeException | ReflectiveOperationException e) {
      Throwable cause = e;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      return fallback(NativeVersions.ofClassPath().mismatch().orElse(firstLine(cause)));
    }
  }

  private static DenseKernels fallback(String reason) {
    String why = "no native BLAS: " + reason;
    if (why.contains(NOEXEC)) {
      why +=
          "; it is mounted noexec: name another folder by the system property "
              + Keys.NATIVE_FOLDER.name();
    }
    return new NetlibKernels(
        JavaBLAS.getInstance(),
        false,
        "pure Java BLAS (" + why + ")",
        "pure Java BLAS, about three times slower: " + why);
  }

  private static DenseKernels openBlas() throws ReflectiveOperationException {
    requireOwnCache();
    // Loaded by JavaCPP first: netlib's dlopen of the same file then yields the same copy, so that
    // the thread count set here holds for netlib's calls too. It must be the copy without LAPACK:
    // JavaCPP's setter finds that one first, and loading the other as well leaves it
    // multi-threaded.
    Path loaded = Path.of(Loader.load(openblas_nolapack.class));
    openblas_nolapack.blas_set_num_threads(1);
    Path library = loaded.resolveSibling("libopenblas_nolapack.so.0");
    String core = System.getenv(CoreType.VARIABLE);
    String type = core == null ? "core type detected" : "core type " + core;
    String description = "OpenBLAS " + version() + " by JNI, 1 thread a call, " + type;
    DenseKernels kernels = withProperty(library, description);
    openblas_nolapack.blas_set_num_threads(1);
    double[] one = {1, 0};
    double[] result = {0, 0};
    kernels.gemm(false, 1, 1, 1, 1.0, one, 0, 1, one, 0, 1, 0.0, result, 0, 1);
    if (result[0] != 1) {
      throw new IllegalStateException("native dgemm gives " + result[0] + " for 1");
    }
    return kernels;
  }

  /**
   * JavaCPP puts OpenBLAS into ~/.javacpp/cache; without a home directory it would use a folder in
   * the shared temporary directory, regardless of its owner. Nor does it see that native code may
   * not be run from there.
   */
  private static void requireOwnCache() {
    if (System.getProperty(CACHE) != null || System.getProperty(CACHE_TOO) != null) {
      return;
    }
    String user = System.getProperty("user.home", "?");
    File home = new File(user, ".javacpp/cache");
    // A user without a name has the home "?", which would be a folder of the working directory.
    if (Keys.NATIVE_FOLDER.find(System::getProperty).isEmpty()
        && new File(user).isAbsolute()
        && (home.exists() || home.mkdirs())
        && home.canRead()
        && home.canWrite()
        && home.canExecute()
        && Mounts.ofThisProcess().noexec(home.toPath()).isEmpty()) {
      return;
    }
    try {
      System.setProperty(CACHE, PrivateFolder.open().path().resolve("javacpp").toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Our private copy of netlib loads that library, whatever library the application has configured.
   */
  private static DenseKernels withProperty(Path library, String description)
      throws ReflectiveOperationException {
    String before = System.getProperty(NETLIB_PATH);
    boolean asked = before != null;
    try {
      if (!asked && Files.exists(library)) {
        System.setProperty(NETLIB_PATH, library.toString());
      }
      return NetlibLoader.nativeKernels(asked ? "BLAS at " + before : description);
    } finally {
      if (!asked) {
        System.clearProperty(NETLIB_PATH);
      }
    }
  }

  private static String version() {
    String version = openblas_nolapack.class.getPackage().getImplementationVersion();
    return version == null ? "0.3.31" : version;
  }

  private static String firstLine(Throwable e) {
    return e.toString().lines().findFirst().orElse(e.getClass().getSimpleName());
  }
}
