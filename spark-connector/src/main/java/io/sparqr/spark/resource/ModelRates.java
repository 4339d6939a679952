/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.ResourceModel;
import org.apache.spark.SparkConf;

/**
 * Rates that the tree's cut is planned with: the Spark configuration's, else the device's own
 * numbers, else those of the machines that were measured.
 *
 * @param coreFlops flops a second of one CPU core
 * @param deviceFlops flops a second of any GPU; 0: its own
 * @param deviceBandwidth bytes a second of any GPU; 0: its own
 * @param deviceMemory bytes of any GPU; 0: its own
 * @param network bytes a second between two executors
 * @param levelSeconds fixed cost of a level: a Spark stage with its shuffle's latency
 */
record ModelRates(
    double coreFlops,
    double deviceFlops,
    double deviceBandwidth,
    long deviceMemory,
    double network,
    double levelSeconds) {

  static final String CORE_FLOPS = "spark.sparqr.model.coreFlops";
  static final String DEVICE_FLOPS = "spark.sparqr.model.deviceFlops";
  static final String DEVICE_BANDWIDTH = "spark.sparqr.model.deviceBandwidth";
  static final String DEVICE_MEMORY = "spark.sparqr.model.deviceMemory";
  static final String NETWORK_BANDWIDTH = "spark.sparqr.model.networkBandwidth";
  static final String LEVEL_SECONDS = "spark.sparqr.model.levelSeconds";

  private static final double FLOPS_PER_CORE = 2e10;

  /**
   * Reads the keys.
   *
   * @throws IllegalArgumentException naming the key whose value is no positive number
   */
  static ModelRates of(SparkConf conf) {
    return new ModelRates(
        number(conf, CORE_FLOPS, FLOPS_PER_CORE),
        number(conf, DEVICE_FLOPS, 0),
        number(conf, DEVICE_BANDWIDTH, 0),
        conf.contains(DEVICE_MEMORY) ? conf.getSizeAsBytes(DEVICE_MEMORY) : 0,
        number(conf, NETWORK_BANDWIDTH, ResourceModel.NETWORK),
        number(conf, LEVEL_SECONDS, ResourceModel.LEVEL_SECONDS));
  }

  /** A GPU with what the configuration says of all of them. */
  DeviceModel device(DeviceModel own) {
    return new DeviceModel(
        deviceFlops > 0 ? deviceFlops : own.flopsPerSecond(),
        deviceBandwidth > 0 ? deviceBandwidth : own.bytesPerSecond(),
        deviceMemory > 0 ? deviceMemory : own.memoryBytes());
  }

  private static double number(SparkConf conf, String key, double otherwise) {
    String text = conf.get(key, null);
    if (text == null) {
      return otherwise;
    }
    double value = -1;
    try {
      value = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      // said below, with the key
    }
    if (!(value > 0) || Double.isInfinite(value)) {
      throw new IllegalArgumentException(key + " = " + text + ": no positive number");
    }
    return value;
  }
}
