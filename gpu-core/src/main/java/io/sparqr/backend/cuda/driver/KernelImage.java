/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import io.sparqr.error.BackendUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The kernels in the jar, as built: one fat binary by nvcc, or separate files of machine code and
 * PTX by NVRTC.
 */
public final class KernelImage {

  /** Why a jar without kernels has no CUDA backend. */
  public static final String NO_KERNELS =
      "this build has no CUDA kernels (neither nvcc nor NVRTC was there when it was made)";

  private static final String START = "/io/sparqr/backend/cuda/sparqr.";

  /** Compute capabilities (times 10) with machine code, newest first. */
  static final List<Integer> MACHINES = List.of(100, 90, 80);

  /** Compute capability (times 10) of the PTX, which the driver compiles for later chips. */
  static final int PTX = 100;

  private KernelImage() {}

  /** Whether the build put kernels into the jar. */
  public static boolean isInJar() {
    return resources(PTX).stream().anyMatch(name -> KernelImage.class.getResource(name) != null);
  }

  /**
   * The image to pass to cuModuleLoadData for a device.
   *
   * @param capability the device's compute capability times 10: 90 for 9.0
   * @throws BackendUnavailableException if the jar has no kernels for it
   */
  public static byte[] of(int capability) {
    for (String name : resources(capability)) {
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
  static List<String> resources(int capability) {
    var names = new ArrayList<String>();
    names.add(START + "fatbin");
    for (int machine : MACHINES) {
      if (machine / 10 == capability / 10 && machine <= capability) {
        names.add(machine(machine));
      }
    }
    if (capability >= PTX) {
      names.add(START + "compute_" + PTX + ".ptx");
    }
    return names;
  }

  /** The machine code's resource. */
  static String machine(int capability) {
    return START + "sm_" + capability + ".cubin";
  }
}
