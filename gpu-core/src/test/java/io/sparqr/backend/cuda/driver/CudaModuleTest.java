/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which image a launch of rounds takes, and when it is loaded. Needs no device. */
class CudaModuleTest {

  private final List<String> loaded = new ArrayList<>();
  private final List<String> launched = new ArrayList<>();
  private final Map<Object, String> modules = new IdentityHashMap<>();
  private final Map<Object, String> functions = new IdentityHashMap<>();

  private final CudaDriver driver =
      new CudaDriver(
          FaultyCalls.of(
              null,
              (call, a) -> {
                switch (call) {
                  case "moduleLoad" -> {
                    String image = new String((byte[]) a[1], StandardCharsets.US_ASCII);
                    loaded.add(image);
                    modules.put(a[0], image);
                  }
                  case "moduleUnload" -> loaded.remove(modules.get(a[0]));
                  case "moduleFunction" -> functions.put(a[0], modules.get(a[1]) + " " + a[2]);
                  case "launch" -> launched.add(functions.get(a[0]));
                  default -> {
                    // succeeds
                  }
                }
                return null;
              }));

  private static ByteBuffer parameter() {
    ByteBuffer b = ByteBuffer.allocateDirect(CudaModule.STAGE_BYTES).order(ByteOrder.nativeOrder());
    for (int at = 0; at < CudaModule.ONE_STAGE_BYTES; at += Long.BYTES) {
      b.putLong(at, -1);
    }
    return b;
  }

  @Test
  void severalDevicesHaveAnImageThatTheFirstLaunchOfTheirsLoads() {
    var image = new KernelImage(part -> part.name().getBytes(StandardCharsets.US_ASCII));
    try (var stream = new CudaStream(driver);
        var module = new CudaModule(driver, image)) {
      module.launch(8, stream, parameter(), 0, 1);
      module.launch(4, stream, parameter(), 0, 1);
      assertThat(loaded).containsExactly("ROUNDS", "SUMS", "SOLVES");
      assertThat(launched).containsExactly("ROUNDS sparqr_round_8", "ROUNDS sparqr_round_4");
      for (int at = CudaModule.ONE_STAGE_BYTES; at < CudaModule.STAGE_BYTES; at += Long.BYTES) {
        ByteBuffer several = parameter();
        several.putLong(at, 1);
        launched.clear();
        module.launch(4, stream, several, 0, 1);
        module.launch(8, stream, several, 0, 1);
        assertThat(launched)
            .as("byte %d", at)
            .containsExactly("SEVERAL sparqr_round_4", "SEVERAL sparqr_round_8");
      }
      launched.clear();
      module.launch(8, stream, parameter(), 0, 1);
      assertThat(launched).containsExactly("ROUNDS sparqr_round_8");
      assertThat(loaded).containsExactly("ROUNDS", "SUMS", "SOLVES", "SEVERAL");
    }
    assertThat(loaded).isEmpty();
  }
}
