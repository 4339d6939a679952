/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import io.sparqr.error.BackendUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * The kernels in the jar, as built: for each source file ({@link Part}) one fat binary by nvcc, or
 * separate files of machine code and PTX by NVRTC.
 */
public final class KernelImage {

  /** Why a jar without kernels has no CUDA backend. */
  public static final String NO_KERNELS =
      "this build has no CUDA kernels (neither nvcc nor NVRTC was there when it was made)";

  private static final String FOLDER = "/io/sparqr/backend/cuda/";

  /** The source files, by what their kernels do; each is an image of its own. */
  public enum Part {
    /** The tasks of a factorization. */
    ROUNDS,
    /** The same with what lists for several devices have. */
    SEVERAL,
    /** Column sums and their comparison. */
    SUMS,
    /** Solves with R and their errors. */
    SOLVES,
    /** What dense matrices alone have: products with Q, sums. */
    DENSE;

    /** The start of the names of its resources. */
    String start() {
      return FOLDER + name().toLowerCase(Locale.ROOT) + ".";
    }
  }

  /** Compute capabilities (times 10) with machine code, newest first. */
  static final List<Integer> MACHINES = List.of(100, 90, 80);

  /** Compute capability (times 10) of the PTX, which the driver compiles for later chips. */
  static final int PTX = 100;

  private final Function<Part, byte[]> source;
  private final Map<Part, byte[]> images = new EnumMap<>(Part.class);

  /** Images from elsewhere than the jar; each is asked for when it is first wanted. */
  public KernelImage(Function<Part, byte[]> source) {
    this.source = source;
  }

  /**
   * The images for a device.
   *
   * @param capability the device's compute capability times 10: 90 for 9.0
   * @throws BackendUnavailableException if the jar has no kernels for it
   */
  public static KernelImage of(int capability) {
    return new KernelImage(part -> read(part, capability));
  }

  /** What to pass to cuModuleLoadData; not a copy. */
  synchronized byte[] of(Part part) {
    return images.computeIfAbsent(part, source);
  }

  /** Whether the build put kernels into the jar. */
  public static boolean isInJar() {
    return resources(Part.ROUNDS, PTX).stream()
        .anyMatch(name -> KernelImage.class.getResource(name) != null);
  }

  /** What the jar has for a device, in words. */
  public static String kind(int capability) {
    for (String name : resources(Part.ROUNDS, capability)) {
      if (KernelImage.class.getResource(name) != null) {
        return name.endsWith(".ptx")
            ? "PTX, which the driver compiles at the first use"
            : name.endsWith(".cubin") ? "machine code" : "a fat binary";
      }
    }
    return NO_KERNELS;
  }

  /**
   * A hash of what runs the tasks of a factorization on a device, 16 digits; of some megabytes.
   *
   * @throws BackendUnavailableException if the jar has no kernels for it
   */
  public static String fingerprint(int capability) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Part part : List.of(Part.ROUNDS, Part.SEVERAL)) {
        digest.update(read(part, capability));
      }
      return HexFormat.of().formatHex(digest.digest(), 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  /** The jar's image of a part for a device. */
  static byte[] read(Part part, int capability) {
    for (String name : resources(part, capability)) {
      try (InputStream in = KernelImage.class.getResourceAsStream(name)) {
        if (in != null) {
          return in.readAllBytes();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    throw new BackendUnavailableException(NO_KERNELS, "cuda");
  }

  /**
   * The resources that run on a device, best first. A fat binary contains all of them, and the
   * driver chooses. Machine code runs on its own chip and later minor versions of the same major
   * one (CUDA C++ Programming Guide, "Binary Compatibility"), PTX on every later chip.
   */
  static List<String> resources(Part part, int capability) {
    var names = new ArrayList<String>();
    names.add(part.start() + "fatbin");
    for (int machine : MACHINES) {
      if (machine / 10 == capability / 10 && machine <= capability) {
        names.add(machine(part, machine));
      }
    }
    if (capability >= PTX) {
      names.add(part.start() + "compute_" + PTX + ".ptx");
    }
    return names;
  }

  /** The machine code's resource. */
  static String machine(Part part, int capability) {
    return part.start() + "sm_" + capability + ".cubin";
  }
}
