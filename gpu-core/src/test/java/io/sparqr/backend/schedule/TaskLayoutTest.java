/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The Java constants against the numbers that the kernels' header asserts. */
class TaskLayoutTest {

  private static final Pattern OFFSET =
      Pattern.compile("static_assert\\(offsetof\\((\\w+), ([\\w.]+)\\) == (\\d+)");

  private static String header() throws IOException {
    return Files.readString(Path.of("src/main/cuda/include/task_layout.cuh"));
  }

  @Test
  void everyOffsetOfTheHeaderIsTheJavaConstant() throws Exception {
    Map<String, Integer> java = new TreeMap<>();
    for (Field f : TaskLayout.class.getDeclaredFields()) {
      if (f.getType() == int.class) {
        java.put(f.getName(), f.getInt(null));
      }
    }
    int found = 0;
    Matcher m = OFFSET.matcher(header());
    while (m.find()) {
      String name = m.group(2).replace('.', '_').toUpperCase(Locale.ROOT);
      String constant = m.group(1).equals("SparqrFront") ? "FRONT_" + name : name;
      assertThat(java).as(m.group()).containsEntry(constant, Integer.parseInt(m.group(3)));
      found++;
    }
    assertThat(found).isEqualTo(54);
  }

  @Test
  void sizesAndKindsAgreeWithTheHeader() throws Exception {
    String h = header();
    assertThat(number(h, "sizeof\\(SparqrTask\\) == (\\d+)")).isEqualTo(TaskLayout.TASK_BYTES);
    assertThat(number(h, "sizeof\\(SparqrFront\\) == (\\d+)")).isEqualTo(TaskLayout.FRONT_BYTES);
    assertThat(number(h, "SPARQR_TILE = (\\d+)")).isEqualTo(TaskLayout.TILE);
    assertThat(number(h, "SPARQR_MAX_BUNDLE = (\\d+)")).isEqualTo(TaskLayout.MAX_BUNDLE);
    String small = Files.readString(Path.of("src/main/cuda/include/small_front.cuh"));
    int columns = number(small, "SPARQR_SMALL_COLUMNS = (\\d+)");
    assertThat(columns).isEqualTo(TaskLayout.MAX_SMALL_COLUMNS);
    assertThatThrownBy(() -> SchedulerOptions.defaults().withSmallFronts(600, columns + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("small fronts of 257 columns; at most 256");
    assertThat(number(h, "SPARQR_VT_DOUBLES = (\\d+)")).isEqualTo(TaskLayout.VT_DOUBLES);
    assertThat(number(h, "SPARQR_DEVICES = (\\d+)")).isEqualTo(TaskLayout.FLAG_DEVICES);
    assertThat(number(h, "SPARQR_FINAL = (\\d+)")).isEqualTo(TaskLayout.FLAG_FINAL);
    for (String name :
        new String[] {
          "FACTORIZE",
          "APPLY_FACTORIZE",
          "SMALL_FRONT",
          "PACK_ASSEMBLE",
          "ASSEMBLE_BLOCK",
          "ASSEMBLE_S",
          "APPLY",
          "APPLY_NEAR",
          "PACK_ROWS",
          "RESIDUAL",
          "KINDS_OF_ONE",
          "PULL",
          "ANNOUNCE",
          "KINDS",
          "PART_BUNDLE",
          "PART_TILES",
          "PART_BLOCK",
          "STATE_SOUND",
          "STATE_DEAD",
          "STATE_PENDING",
          "STATE_DROPPED",
          "STATE_PASSED",
          "STATE_FAILED",
          "DROP",
          "SMALL_ASSEMBLE_S",
          "SMALL_PACK_ASSEMBLE",
          "SMALL_PACK_ROWS",
          "SMALL_RESIDUAL"
        }) {
      assertThat(number(h, "SPARQR_" + name + " = (\\d+)"))
          .as(name)
          .isEqualTo(TaskLayout.class.getDeclaredField(name).getInt(null));
    }
  }

  @Test
  void descriptorsSurviveTheRoundTrip() {
    var d =
        new FrontDescriptor(
            new FrontDescriptor.Places(1L << 40, 2, 3, 4L << 33, 5, 6),
            new FrontDescriptor.Shape(96, 70, 80, 30, 2, 40, 3, 3),
            7,
            123456,
            9);
    ByteBuffer b = ByteBuffer.allocate(3 * TaskLayout.FRONT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    d.encode(b, 1);
    assertThat(FrontDescriptor.decode(b, 1)).isEqualTo(d);
    assertThat(d.doubles()).isEqualTo(96L * 96);
    assertThat(b.getInt(TaskLayout.FRONT_BYTES + 52)).isEqualTo(70);
  }

  private static int number(String text, String regex) {
    Matcher m = Pattern.compile(regex).matcher(text);
    assertThat(m.find()).as(regex).isTrue();
    return Integer.parseInt(m.group(1));
  }
}
