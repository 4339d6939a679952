/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.backend.cuda.driver.KernelImage.Part;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Which kernels a device gets, and what the build put into the jar: -Dcuda.nvrtc=true demands it.
 */
class KernelImageTest {

  private static final int EM_CUDA = 190;

  private static final Pattern ENTRY = Pattern.compile("\\b(sparqr_\\w+)\\(const");

  private static final Map<Part, List<String>> KERNELS =
      Map.of(
          Part.ROUNDS,
          List.of("sparqr_round_4", "sparqr_round_8"),
          Part.SEVERAL,
          List.of("sparqr_round_4", "sparqr_round_8"),
          Part.SUMS,
          List.of(
              "sparqr_probe_norm",
              "sparqr_departures",
              "sparqr_output_sums",
              "sparqr_block_sums",
              "sparqr_entry_sums",
              "sparqr_rhs_sums",
              "sparqr_rhs_probe_sums"),
          Part.SOLVES,
          List.of(
              "sparqr_forward_substitution",
              "sparqr_forward_error",
              "sparqr_back_substitution",
              "sparqr_back_error"),
          Part.DENSE,
          List.of(
              "sparqr_product_4",
              "sparqr_product_8",
              "sparqr_product_identity",
              "sparqr_product_signs",
              "sparqr_dense_product",
              "sparqr_dense_sums",
              "sparqr_pursuit_start",
              "sparqr_pursuit_step",
              "sparqr_jacobi",
              "sparqr_tall_pass_1",
              "sparqr_tall_pass_2",
              "sparqr_tall_pass_3",
              "sparqr_tall_pass_4",
              "sparqr_tall_sum",
              "sparqr_tall_cholesky",
              "sparqr_tall_pack",
              "sparqr_tall_finish"));

  /** Every kernel of the sources is listed here. */
  @ParameterizedTest
  @EnumSource(Part.class)
  void everySourceHasItsKernels(Part part) throws IOException {
    String source = source(file(part));
    if (part == Part.SEVERAL) {
      assertThat(source).contains("#define SPARQR_SEVERAL\n#include \"../kernels/rounds.cu\"\n");
      source = source("rounds");
    }
    assertThat(ENTRY.matcher(source).results().map(r -> r.group(1)))
        .containsExactlyInAnyOrderElementsOf(KERNELS.get(part));
  }

  /** What a launch gives a block is what the kernels' structs of shared memory are checked for. */
  @Test
  void aLaunchIsAsTheSourcesSay() throws IOException {
    String stage = Files.readString(Path.of("src/main/cuda/include/stage.cuh"));
    assertThat(stage)
        .contains("sizeof(SparqrStage) == " + CudaModule.STAGE_BYTES + ",")
        .contains("sizeof(SparqrStage) == " + CudaModule.ONE_STAGE_BYTES + ",")
        .contains("SPARQR_THREADS = " + CudaModule.THREADS + ";")
        .contains("SPARQR_SHARED_DOUBLES_4 = " + CudaModule.sharedDoubles(4) + ";")
        .contains("SPARQR_SHARED_DOUBLES_8 = " + CudaModule.sharedDoubles(8) + ";");
  }

  private static String source(String name) throws IOException {
    return Files.readString(Path.of("src/main/cuda/kernels", name + ".cu"));
  }

  private static String file(Part part) {
    return part.name().toLowerCase(Locale.ROOT);
  }

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
    for (Part part : Part.values()) {
      assertThat(KernelImage.resources(part, capability))
          .containsExactlyElementsOf(
              List.of(names.split(" ")).stream()
                  .map(name -> "/io/sparqr/backend/cuda/" + file(part) + "." + name)
                  .toList());
    }
  }

  @Test
  void aBuildThatIsAskedForKernelsHasThem() {
    assumeTrue(Boolean.getBoolean("cuda.nvrtc"), "no -Dcuda.nvrtc=true");
    assertThat(KernelImage.isInJar()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"80", "90", "100"})
  void machineCodeIsForItsChip(int capability) throws IOException {
    for (Part part : Part.values()) {
      byte[] image = resource(KernelImage.machine(part, capability));
      ByteBuffer elf = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
      assertThat(elf.getInt(0)).isEqualTo(0x464c457f);
      assertThat(elf.getShort(18)).isEqualTo((short) EM_CUDA);
      // The ELF ABI of CUDA 13: bits 8 to 15 of e_flags are the compute capability.
      assertThat(elf.get(8)).as("ABI version").isEqualTo((byte) 8);
      assertThat(elf.getInt(48) >> 8 & 0xff).isEqualTo(capability);
      String text = new String(image, StandardCharsets.ISO_8859_1);
      assertThat(KERNELS.get(part))
          .allSatisfy(kernel -> assertThat(text).contains(".text." + kernel + "\0"));
      assertThat(KernelImage.of(capability).of(part)).isEqualTo(image);
    }
  }

  @Test
  void ptxIsForLaterChips() throws IOException {
    for (Part part : Part.values()) {
      byte[] image = resource("/io/sparqr/backend/cuda/" + file(part) + ".compute_100.ptx");
      String text = new String(image, StandardCharsets.US_ASCII);
      assertThat(text).contains("\n.target sm_100\n").endsWith("}\n\0");
      assertThat(KERNELS.get(part))
          .allSatisfy(kernel -> assertThat(text).contains(".entry " + kernel + "("));
      assertThat(KernelImage.of(120).of(part)).isEqualTo(image);
    }
  }

  /** What NVRTC made, if it made the kernels; the gate asks for machine code of one chip. */
  private static byte[] resource(String name) throws IOException {
    String ptx = "/io/sparqr/backend/cuda/rounds.compute_100.ptx";
    assumeTrue(KernelImageTest.class.getResource(ptx) != null, "no kernels made by NVRTC");
    String chips = System.getenv().getOrDefault("SPARQR_KERNELS", "");
    boolean left = !chips.isEmpty() && name.endsWith(".cubin");
    assumeTrue(
        !left || List.of(chips.split(" ")).stream().anyMatch(name::contains),
        "SPARQR_KERNELS=" + chips);
    try (InputStream in = KernelImageTest.class.getResourceAsStream(name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}
