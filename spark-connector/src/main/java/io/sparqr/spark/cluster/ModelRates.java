/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import io.sparqr.configuration.Keys;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.ResourceModel;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;
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
    return of(
        name -> conf.get(name, null), conf.contains(memory) ? conf.getSizeAsBytes(memory) : 0);
  }

  /** As without any key: a configuration of Spark takes its classes a tenth of a first solve. */
  static ModelRates withoutSpark() {
    Map<String, String> none = Map.of();
    return of(none::get, 0);
  }

  private static ModelRates of(UnaryOperator<String> settings, long deviceMemory) {
    return new ModelRates(
        Keys.CORE_FLOPS.in(settings),
        Keys.DEVICE_FLOPS.find(settings).orElse(0.0),
        Keys.DEVICE_BANDWIDTH.find(settings).orElse(0.0),
        deviceMemory,
        Keys.NETWORK_BANDWIDTH.find(settings).orElse(ResourceModel.NETWORK),
        Keys.LEVEL_SECONDS.find(settings).map(OptionalDouble::of).orElse(OptionalDouble.empty()),
        Keys.BLOCK_BANDWIDTH.find(settings).orElse(ResourceModel.DEVICE_BLOCKS));
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
}
