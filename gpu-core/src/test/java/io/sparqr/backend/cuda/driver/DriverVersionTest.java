/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.reference.PlainCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverVersionTest {

  @TempDir private Path folder;

  private final CudaDriver driver = new CudaDriver(new PlainCalls(1, true).calls());

  private String of(String text) throws IOException {
    Path module = folder.resolve("version");
    Files.writeString(module, text);
    return DriverVersion.of(driver, module);
  }

  @Test
  void theModulesVersionIsTakenWhereItIsTold() throws IOException {
    String api = DriverVersion.of(driver, folder.resolve("missing"));
    assertThat(api).matches("\\d+\\.\\d");
    assertThat(
            of(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC"
                    + " 2023\nGCC version:  gcc version 12.2.0\n"))
        .isEqualTo(api + " (535.104.05)");
    assertThat(
            of(
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build"
                    + "  (dvs-builder)  Sun Jul 27 07:05:52 UTC 2025\n"))
        .isEqualTo(api + " (580.65.06)");
    assertThat(of("something else")).isEqualTo(api);
  }

  @Test
  void kernelsOfADeviceHaveOneHash() {
    if (KernelImage.isInJar()) {
      String one = KernelImage.fingerprint(100);
      assertThat(one).matches("[0-9a-f]{16}").isEqualTo(KernelImage.fingerprint(100));
    }
  }
}
