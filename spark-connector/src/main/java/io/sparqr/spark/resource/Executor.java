/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.partition.DeviceModel;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.status.api.v1.ExecutorSummary;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An executor as Spark's status store knows it.
 *
 * @param id Spark's, such as "3"
 * @param host as the scheduler compares it
 * @param cores task slots times spark.task.cpus
 * @param gpus GPUs that Spark knows of
 */
record Executor(String id, String host, int cores, int gpus) {

  /**
   * The executors that are alive and of the application's own resource profile: others never get
   * our tasks. In the order of their start; perhaps none yet.
   */
  static List<Executor> of(JavaSparkContext context) {
    var list = new ArrayList<Executor>();
    for (ExecutorSummary e :
        CollectionConverters.asJava(context.sc().statusStore().executorList(true))) {
      // One that only its block manager has announced so far has no cores yet.
      boolean ready = !e.id().equals("driver") && !e.isExcluded() && e.totalCores() > 0;
      if (ready && e.resourceProfileId() == ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID()) {
        var gpu = e.resources().get("gpu");
        int gpus = gpu.isEmpty() ? 0 : gpu.get().addresses().length;
        list.add(new Executor(e.id(), host(e.hostPort()), e.totalCores(), gpus));
      }
    }
    list.sort(Comparator.<Executor>comparingInt(e -> e.id().length()).thenComparing(Executor::id));
    return list;
  }

  private static String host(String hostPort) {
    int colon = hostPort.lastIndexOf(':');
    return colon < 0 || hostPort.endsWith("]") ? hostPort : hostPort.substring(0, colon);
  }

  /**
   * Its GPUs that the tasks of a factoring stage will get.
   *
   * @param told what it has told the driver, if it has
   * @param verdict refusing: there are none to plan with; requiring: at least one, unless it is
   *     known to have none, since a task without one would fail
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

  /** The location of a task that should run here, in the form that Spark's scheduler reads. */
  String location() {
    return "executor_" + host + "_" + id;
  }
}
