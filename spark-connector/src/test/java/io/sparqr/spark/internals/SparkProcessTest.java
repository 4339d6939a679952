/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.LocalSpark;
import java.lang.reflect.Field;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManager;
import org.junit.jupiter.api.Test;
import org.objenesis.ObjenesisStd;

/** What is asked of Spark while another thread is starting it. */
class SparkProcessTest {

  @Test
  void aHostIsKnownOnceSparkHasStarted() throws ReflectiveOperationException {
    assertThat(SparkProcess.host(null)).isEmpty();

    SparkEnv starting = bare(SparkEnv.class);
    assertThat(SparkProcess.host(starting)).isEmpty();

    Field blocks = SparkEnv.class.getDeclaredField("blockManager");
    blocks.setAccessible(true);
    blocks.set(starting, bare(BlockManager.class));
    assertThat(SparkProcess.host(starting)).isEmpty();

    LocalSpark.context();
    assertThat(SparkProcess.host(SparkEnv.get())).contains("127.0.0.1");
  }

  /** An object whose constructor has not run. */
  private static <T> T bare(Class<T> type) {
    return new ObjenesisStd().newInstance(type);
  }
}
