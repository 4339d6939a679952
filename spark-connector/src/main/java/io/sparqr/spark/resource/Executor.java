/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
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

  /** The executors that are alive, by id; perhaps none yet. The order is that of their start. */
  static List<Executor> of(JavaSparkContext context) {
    var list = new ArrayList<Executor>();
    for (ExecutorSummary e :
        CollectionConverters.asJava(context.sc().statusStore().executorList(true))) {
      // One that only its block manager has announced so far has no cores yet.
      if (!e.id().equals("driver") && !e.isExcluded() && e.totalCores() > 0) {
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

  /** The location of a task that should run here, in the form that Spark's scheduler reads. */
  String location() {
    return "executor_" + host + "_" + id;
  }
}
