/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.backend.QrBackendProvider;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.dense.BlasLoader;
import java.util.Optional;

/** The backend that is always available. */
public final class CpuBackendProvider implements QrBackendProvider {

  /** For the service loader. */
  public CpuBackendProvider() {}

  @Override
  public String name() {
    return "cpu";
  }

  @Override
  public Optional<String> unavailable() {
    return Optional.empty();
  }

  @Override
  public SubtreeFactorizer create(int device) {
    return new CpuSubtreeFactorizer(BlasLoader.kernels());
  }

  @Override
  public int devices() {
    return 0;
  }

  @Override
  public double minimumIntensity() {
    return 0;
  }
}
