/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValuesTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "WHOLE | 0 -0 12 +7 9223372036854775807 -9223372036854775808",
        "LEADING_ZERO | 00 007 -01",
        "BIG | 9223372036854775808 12345678901234567890",
        "POINT | 1.5 .5 5. -1.5e-3 01.5",
        "SCIENTIFIC | 1e5 -2E+3",
        "COMMA | 1,5 0,125 1234,567 ,5",
        "COMMA_OR_THOUSANDS | 1,250 -12,500",
        "THOUSANDS | 1,250,000 1,250.5 1.250.000 1.250,5 1'250",
        "INFINITE | inf -Inf Infinity",
        "NAN | NaN nan",
        "BOOLEAN | true False TRUE",
        "DATE | 2026-11-27 2024-02-29",
        "TIMESTAMP | 2026-11-27T01:02 2026-11-27T01:02:03.123456",
        "INSTANT | 2026-11-27T01:02:03Z 2026-11-27T01:02+02:00",
        "MARK | . N/A NULL - ? n/a None",
        "OTHER | 1D 1F 1L 0x1p3 0x10 1_000 1e e5 + 1-2 2026-02-30 2026-13-01 0000-01-01 2026-11 T yes 1.2.3 --1"
      })
  void looks(ValueKind kind, String texts) {
    for (String text : texts.strip().split(" ")) {
      assertThat(Values.kind(text)).as(text).isEqualTo(kind);
    }
  }

  @Test
  void marksBetweenThousands() {
    assertThat(Values.ungrouped("1,148", ',', '.')).isEqualTo("1148");
    assertThat(Values.ungrouped("-1.148.000,25", '.', ',')).isEqualTo("-1148000,25");
    assertThat(Values.ungrouped("1\u00a0148", ' ', '.')).isEqualTo("1148");
    assertThat(Values.ungrouped("12\u2019500", '\'', '.')).isEqualTo("12500");
    for (String other : new String[] {"1,14", "1148,000", "1,148,0", ",148", "1,148x", "a,bcd"}) {
      assertThat(Values.ungrouped(other, ',', '.')).isEqualTo(other);
    }
  }
}
