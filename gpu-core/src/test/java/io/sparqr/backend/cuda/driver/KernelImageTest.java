/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Which kernels a device gets, and what the build put into the jar: -Dcuda.nvrtc=true demands it.
 */
class KernelImageTest {

  private static final int EM_CUDA = 190;

  private static final List<String> KERNELS =
      List.of(
          "sparqr_round_4",
          "sparqr_round_8",
          "sparqr_probe_norm",
          "sparqr_departures",
          "sparqr_output_sums",
          "sparqr_block_sums",
          "sparqr_entry_sums",
          "sparqr_rhs_sums");

  @ParameterizedTest
  @CsvSource({
    "80, fatbin sm_80.cubin",
    "86, fatbin sm_80.cubin",
    "89, fatbin sm_80.cubin",
    "90, fatbin sm_90.cubin",
    "100, fatbin sm_100.cubin compute_100.ptx",
    "103, fatbin sm_100.cubin compute_100.ptx",
    "120, fatbin compute_100.ptx"
  })
  void aDeviceGetsWhatItRuns(int capability, String names) {
    assertThat(KernelImage.resources(capability))
        .containsExactlyElementsOf(
            List.of(names.split(" ")).stream()
                .map(name -> "/io/sparqr/backend/cuda/sparqr." + name)
                .toList());
  }

  @Test
  void aBuildThatIsAskedForKernelsHasThem() {
    assumeTrue(Boolean.getBoolean("cuda.nvrtc"), "no -Dcuda.nvrtc=true");
    assertThat(KernelImage.isInJar()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"80", "90", "100"})
  void machineCodeIsForItsChip(int capability) throws IOException {
    byte[] image = resource(KernelImage.machine(capability));
    ByteBuffer elf = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(elf.getInt(0)).isEqualTo(0x464c457f);
    assertThat(elf.getShort(18)).isEqualTo((short) EM_CUDA);
    // The ELF ABI of CUDA 13: bits 8 to 15 of e_flags are the compute capability.
    assertThat(elf.get(8)).as("ABI version").isEqualTo((byte) 8);
    assertThat(elf.getInt(48) >> 8 & 0xff).isEqualTo(capability);
    String text = new String(image, StandardCharsets.ISO_8859_1);
    assertThat(KERNELS).allSatisfy(kernel -> assertThat(text).contains(".text." + kernel + "\0"));
    assertThat(KernelImage.of(capability)).isEqualTo(image);
  }

  @Test
  void ptxIsForLaterChips() throws IOException {
    byte[] image = resource("/io/sparqr/backend/cuda/sparqr.compute_100.ptx");
    String text = new String(image, StandardCharsets.US_ASCII);
    assertThat(text).contains("\n.target sm_100\n").endsWith("}\n\0");
    assertThat(KERNELS).allSatisfy(kernel -> assertThat(text).contains(".entry " + kernel + "("));
    assertThat(KernelImage.of(120)).isEqualTo(image);
  }

  /** What NVRTC made, if it made the kernels. */
  private static byte[] resource(String name) throws IOException {
    boolean byNvrtc = KernelImageTest.class.getResource(KernelImage.machine(80)) != null;
    assumeTrue(byNvrtc, "no kernels made by NVRTC");
    try (InputStream in = KernelImageTest.class.getResourceAsStream(name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}
