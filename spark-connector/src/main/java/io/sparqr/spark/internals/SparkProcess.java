/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** What Spark knows of this JVM: nothing if it has no part in Spark. */
public final class SparkProcess {

  private static final String DRIVER = "driver";

  private SparkProcess() {}

  /** Whether this JVM is a driver or an executor. */
  public static boolean exists() {
    return SparkEnv.get() != null;
  }

  /** Spark's id of the executor that this JVM is; empty on a driver and without Spark. */
  public static Optional<String> executor() {
    SparkEnv env = SparkEnv.get();
    return Optional.ofNullable(env).map(SparkEnv::executorId).filter(id -> !id.equals(DRIVER));
  }

  /** The name of this host, as Spark has it; empty without Spark, and while Spark is starting. */
  public static Optional<String> host() {
    return host(SparkEnv.get());
  }

  /** Another thread may be starting Spark: its environment is there before its block manager is. */
  static Optional<String> host(@Nullable SparkEnv env) {
    return Optional.ofNullable(env)
        .map(SparkEnv::blockManager)
        .map(BlockManager::blockManagerId)
        .map(BlockManagerId::host);
  }

  /** A setting of the application; empty if it is not set, and without Spark. */
  public static Optional<String> setting(String key) {
    SparkEnv env = SparkEnv.get();
    return Optional.ofNullable(env == null ? null : env.conf().get(key, null));
  }

  /** The folders for temporary files of this JVM; empty without Spark. */
  public static List<String> localFolders() {
    SparkEnv env = SparkEnv.get();
    return env == null
        ? List.of()
        : List.of(env.blockManager().diskBlockManager().localDirsString());
  }

  /**
   * The class loader of tasks that run in the driver's JVM, if it is another one than Spark's own;
   * only with Spark.
   */
  public static Optional<ClassLoader> taskClassLoader() {
    Option<ClassLoader> loader = SparkEnv.get().serializer().defaultClassLoader();
    return loader.isDefined() ? Optional.of(loader.get()) : Optional.empty();
  }

  /** Sends an object to a task and back, in this JVM: a copy of it. Only with Spark. */
  public static Object sentAndReceived(Object closure) {
    var serializer = SparkEnv.get().closureSerializer().newInstance();
    ClassTag<Object> any = ClassTag$.MODULE$.apply(Object.class);
    ByteBuffer sent = serializer.serialize(closure, any);
    return serializer.deserialize(sent, Thread.currentThread().getContextClassLoader(), any);
  }

  /** The context that is active in this JVM, if there is one; none is started. */
  public static Optional<SparkContext> activeContext() {
    Option<SparkContext> active = SparkContext$.MODULE$.getActive();
    return active.isDefined() ? Optional.of(active.get()) : Optional.empty();
  }
}
