/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.spark.wire.OwnObjects;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** Tasks that read parts of files. */
public final class FileTasks {

  private FileTasks() {}

  /**
   * An RDD with one partition for each part, preferably on the hosts that store it. The parts cross
   * as bytes: Kryo, where an application has chosen it, cannot read records.
   *
   * @param hosts of each part
   */
  public static <T extends Serializable> JavaRDD<T> near(
      JavaSparkContext context, Class<T> type, List<T> parts, List<List<String>> hosts) {
    List<Tuple2<byte[], Seq<String>>> placed = new ArrayList<>(parts.size());
    for (int k = 0; k < parts.size(); k++) {
      Seq<String> where = CollectionConverters.asScala(hosts.get(k)).toSeq();
      placed.add(new Tuple2<>(OwnObjects.bytes(parts.get(k)), where));
    }
    return context
        .sc()
        .makeRDD(
            CollectionConverters.asScala(placed).toSeq(),
            ClassTag$.MODULE$.<byte[]>apply(byte[].class))
        .toJavaRDD()
        .map(part -> OwnObjects.object(part, type));
  }

  /** The hosts that store the bytes of a file from an offset on. */
  public static List<String> hosts(FileSystem system, FileStatus file, long at, long length)
      throws IOException {
    BlockLocation[] blocks = system.getFileBlockLocations(file, at, length);
    return blocks == null || blocks.length == 0
        ? List.of()
        : Arrays.stream(blocks[0].getHosts()).filter(h -> !h.equals("localhost")).toList();
  }

  /** The stream, which within a task is closed at the end of the task if not earlier. */
  public static <S extends InputStream> S closedWithTask(S in) {
    TaskContext task = TaskContext.get();
    if (task != null) {
      task.addTaskCompletionListener(
          context -> {
            try {
              in.close();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    }
    return in;
  }
}
