/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import io.sparqr.configuration.Key;
import io.sparqr.configuration.Keys;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.ResourceModel;
import java.util.OptionalDouble;
import org.apache.spark.SparkConf;

/**
 * Rates for planning the cut of the tree: those of the Spark configuration, otherwise the device's
 * own, otherwise those of the measured machines.
 *
 * @param coreFlops flops per second of one CPU core
 * @param deviceFlops flops per second of any GPU; 0: its own
 * @param deviceBandwidth bytes per second of any GPU; 0: its own
 * @param deviceMemory bytes of any GPU; 0: its own
 * @param network bytes per second between two executors
 * @param levelSeconds fixed cost of a level, a Spark stage with the latency of its shuffle; empty:
 *     by where it runs
 * @param blocks bytes of contribution blocks that a task on a device hands to another per second
 */
record ModelRates(
    double coreFlops,
    double deviceFlops,
    double deviceBandwidth,
    long deviceMemory,
    double network,
    OptionalDouble levelSeconds,
    double blocks) {

  /**
   * Reads the keys.
   *
   * @throws IllegalArgumentException naming a key whose value is not a positive number
   */
  static ModelRates of(SparkConf conf) {
    String memory = Keys.DEVICE_MEMORY.name();
    return new ModelRates(
        Keys.CORE_FLOPS.in(key -> conf.get(key, null)),
        number(conf, Keys.DEVICE_FLOPS, 0),
        number(conf, Keys.DEVICE_BANDWIDTH, 0),
        conf.contains(memory) ? conf.getSizeAsBytes(memory) : 0,
        number(conf, Keys.NETWORK_BANDWIDTH, ResourceModel.NETWORK),
        level(conf),
        number(conf, Keys.BLOCK_BANDWIDTH, ResourceModel.DEVICE_BLOCKS));
  }

  /** The model of a GPU with the rates set in the configuration. */
  DeviceModel device(DeviceModel own) {
    return new DeviceModel(
        deviceFlops > 0 ? deviceFlops : own.flopsPerSecond(),
        deviceBandwidth > 0 ? deviceBandwidth : own.bytesPerSecond(),
        deviceMemory > 0 ? deviceMemory : own.memoryBytes());
  }

  /**
   * Seconds of a level.
   *
   * @param near whether it runs on the devices of one JVM
   */
  double levelSeconds(boolean near) {
    return levelSeconds.orElse(
        near ? ResourceModel.DEVICE_LEVEL_SECONDS : ResourceModel.LEVEL_SECONDS);
  }

  private static OptionalDouble level(SparkConf conf) {
    return Keys.LEVEL_SECONDS
        .find(name -> conf.get(name, null))
        .map(OptionalDouble::of)
        .orElse(OptionalDouble.empty());
  }

  private static double number(SparkConf conf, Key<Double> key, double otherwise) {
    return key.find(name -> conf.get(name, null)).orElse(otherwise);
  }
}
