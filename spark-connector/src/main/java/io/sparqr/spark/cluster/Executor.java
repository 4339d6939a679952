/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import io.sparqr.partition.DeviceModel;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.internals.SparkCluster;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * An executor as listed in Spark's status store.
 *
 * @param id Spark's, such as "3"
 * @param host in the form that the scheduler compares
 * @param cores task slots times spark.task.cpus
 * @param gpus GPUs known to Spark
 */
public record Executor(String id, String host, int cores, int gpus) {

  /**
   * The live executors of the application's own resource profile, because others never receive our
   * tasks; in order of their start, and possibly none yet.
   */
  public static List<Executor> of(JavaSparkContext context) {
    var list = new ArrayList<Executor>();
    for (SparkCluster.LiveExecutor e : SparkCluster.executors(context.sc())) {
      list.add(new Executor(e.id(), host(e.hostPort()), e.cores(), e.gpus()));
    }
    list.sort(Comparator.<Executor>comparingInt(e -> e.id().length()).thenComparing(Executor::id));
    return list;
  }

  private static String host(String hostPort) {
    int colon = hostPort.lastIndexOf(':');
    return colon < 0 || hostPort.endsWith("]") ? hostPort : hostPort.substring(0, colon);
  }

  /**
   * The GPUs that tasks of a factoring stage will get on this executor.
   *
   * @param told its report to the driver, if there is one
   * @param verdict if it refuses GPUs, there are none to plan with; if it requires them, at least
   *     one, unless the executor is known to have none, because a task without one would fail
   */
  List<DeviceModel> devices(SparkConf conf, Optional<DeviceReport> told, DeviceVerdict verdict) {
    if (!verdict.use()) {
      return List.of();
    }
    if (told.isPresent() && (told.get().devices().isEmpty() || !StageGpus.granted(conf))) {
      return told.get().free() ? told.get().devices() : List.of();
    }
    int least = verdict.required() ? 1 : 0;
    int count = StageGpus.granted(conf) ? gpus : Math.max(least, StageGpus.promised(conf));
    var list = new ArrayList<DeviceModel>();
    for (int d = 0; d < count; d++) {
      int ordinal = d;
      list.add(
          told.map(t -> t.devices().get(Math.min(ordinal, t.devices().size() - 1)))
              .orElseGet(DeviceModel::reference));
    }
    return list;
  }

  /** The location for a task to run here, in the syntax of Spark's scheduler. */
  public String location() {
    return SparkCluster.location(host, id);
  }
}
