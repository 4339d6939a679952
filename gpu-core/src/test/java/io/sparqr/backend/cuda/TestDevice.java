/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.JCudaCalls;
import io.sparqr.backend.cuda.driver.KernelImage;

/** The device of the gpu-tagged tests; without one they fail, they do not skip. */
public final class TestDevice {

  private static final CudaBackendProvider.Verdict VERDICT =
      CudaBackendProvider.probe(KernelImage.isInJar(), JCudaCalls::new);

  private static boolean retained;

  private TestDevice() {}

  public static CudaDriver driver() {
    assertThat(VERDICT.reason()).as("why there is no device").isNull();
    synchronized (TestDevice.class) {
      if (!retained) {
        // One reference for the whole run: making a context anew for every test takes longer.
        VERDICT.driver().check("retain", VERDICT.driver().calls().primaryContextRetain(0));
        retained = true;
      }
    }
    return VERDICT.driver();
  }

  public static CudaBackendProvider provider() {
    driver();
    return new CudaBackendProvider(VERDICT);
  }
}
