/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.LocalSpark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many clusters use Kryo, and some refuse unregistered classes: none of ours may be sent. */
class TableKryoTest {

  @Test
  void piecesProfilesAndRowsCrossUnderKryo(@TempDir Path folder) throws IOException {
    LocalSpark.session().stop();
    var lines = new StringBuilder("id,note,x\n");
    for (int i = 0; i < 200; i++) {
      lines.append(i).append(i % 3 == 0 ? ",\"two\nlines\"," : ",\"say \"\"a\"\"\",");
      lines.append(i * 0.5).append('\n');
    }
    Path file = Files.writeString(folder.resolve("pieces.csv"), lines);
    try (var session =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .config("spark.kryo.registrationRequired", "true")
            .getOrCreate()) {
      Table table =
          TableReader.csv(
              session, "pieces.csv", file.toString(), TableOptions.builder().build(), 100);
      assertThat(table.rows().rdd().getNumPartitions()).isGreaterThan(10);
      assertThat(table.rows().count()).isEqualTo(200);
      assertThat(table.rows().agg(java.util.Map.of("x", "sum")).first().getDouble(0))
          .isEqualTo(0.5 * 199 * 200 / 2);
    }
  }
}
