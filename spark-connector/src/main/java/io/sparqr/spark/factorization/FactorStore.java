/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.error.WireFormatException;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.wire.Frame;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.SerializableConfiguration;

/**
 * Factorizations in a folder on any Hadoop file system:
 *
 * <pre>
 * R/l-p-*         the chunks of R of level l, partition p ({@link StoredPart})
 * _factorization  everything else ({@link StoredHead}), and a list of the files in R/
 * </pre>
 *
 * The head is written last: a folder without it is not a factorization. Repeated tasks may leave
 * files that the head does not list; these are deleted before it is written.
 */
final class FactorStore {

  private static final String HEAD = "_factorization";
  private static final String PARTS = "R";

  private final JavaSparkContext context;
  private final String name;
  private final Path folder;
  private final FileSystem files;

  /**
   * @throws IOException if the file system cannot be reached
   */
  FactorStore(JavaSparkContext context, String name) throws IOException {
    this.context = context;
    this.name = name;
    this.folder = new Path(name);
    this.files = folder.getFileSystem(context.hadoopConfiguration());
  }

  /**
   * Writes a factorization.
   *
   * @param overwrite whether an existing factorization may be replaced, once the new one is
   *     complete
   * @throws FileAlreadyExistsException if there is other content, or a factorization that must not
   *     be replaced
   */
  void save(StoredHead head, FactorLevels levels, boolean overwrite) throws IOException {
    boolean there = files.exists(folder);
    if (there && !overwrite) {
      throw new FileAlreadyExistsException(name, null, "there is something already; overwrite it?");
    }
    if (there && !files.exists(new Path(folder, HEAD)) && files.listStatus(folder).length > 0) {
      throw new FileAlreadyExistsException(name, null, "no factorization, not overwritten");
    }
    Path target = there ? folder.suffix(".saving-" + UUID.randomUUID()) : folder;
    boolean saved = false;
    try {
      write(head, levels, target);
      if (there) {
        files.delete(folder, true);
        if (!files.rename(target, folder)) {
          throw new IOException(name + ": cannot be replaced, what was saved is in " + target);
        }
      }
      saved = true;
    } finally {
      if (!saved && files.exists(folder)) {
        files.delete(target, true);
      }
    }
  }

  private void write(StoredHead head, FactorLevels levels, Path target) throws IOException {
    files.mkdirs(new Path(target, PARTS));
    String parts = new Path(target, PARTS).toString();
    String id = head.id();
    var written = new ArrayList<List<StoredPart>>();
    try (var held = new Held();
        var jobs = new JobScope(context)) {
      Broadcast<SerializableConfiguration> conf = configuration(held);
      for (int l = 0; l < levels.count(); l++) {
        int level = l;
        jobs.describe("saving R, level " + (l + 1) + " of " + levels.count());
        List<byte[]> of =
            JobScope.run(
                context,
                "saving R, level " + (l + 1),
                () ->
                    levels
                        .frames(level, Frame.Kind.TASK, Frame.Kind.FACTOR)
                        .mapPartitionsWithIndex(
                            (p, frames) ->
                                StoredPart.write(conf.value().value(), parts, id, level, p, frames),
                            true)
                        .collect());
        written.add(of.stream().map(StoredPart::decode).toList());
      }
    }
    deleteOthers(new Path(target, PARTS), written);
    try (var out = new DataOutputStream(SavedFile.create(files, new Path(target, HEAD)))) {
      head.write(out, written);
    }
  }

  /** Deletes the files of superseded attempts. */
  private void deleteOthers(Path parts, List<List<StoredPart>> written) throws IOException {
    Set<String> ours = new HashSet<>();
    written.forEach(level -> level.forEach(p -> ours.add(p.name())));
    for (FileStatus file : files.listStatus(parts)) {
      if (!ours.contains(file.getPath().getName())) {
        files.delete(file.getPath(), false);
      }
    }
  }

  private Broadcast<SerializableConfiguration> configuration(Held held) {
    return held.keep(
        context.broadcast(new SerializableConfiguration(context.hadoopConfiguration())));
  }

  /** A loaded factorization: its head, and R on the executors, read and verified. */
  record Loaded(StoredHead head, PlanHandle plan, FactorLevels levels) {}

  /**
   * Reads a factorization.
   *
   * @param held takes ownership of the data on the cluster
   * @throws FileNotFoundException if there is none
   * @throws WireFormatException if it is incomplete, damaged, or of another version
   */
  Loaded load(Held held, StorageLevel storage) throws IOException {
    Path file = new Path(folder, HEAD);
    if (!files.exists(file)) {
      if (files.exists(new Path(folder, PARTS))) {
        throw new WireFormatException(name + ": was not saved to its end, it has no head", "head");
      }
      throw new FileNotFoundException(name + ": no saved factorization");
    }
    var parts = new ArrayList<List<StoredPart>>();
    StoredHead head;
    try (DataInputStream in = files.open(file)) {
      head = StoredHead.read(in, parts);
    } catch (EOFException e) {
      throw new WireFormatException(name + ": its head is truncated", "length");
    } catch (WireFormatException e) {
      throw new WireFormatException(name + ": " + e.getMessage(), e.what());
    }
    PlanHandle plan = PlanHandle.of(Engine.of(context), head.plan());
    held.onClose(plan::release);
    Broadcast<SerializableConfiguration> conf = configuration(held);
    var levels = new ArrayList<JavaRDD<byte[]>>();
    try (var jobs = new JobScope(context)) {
      for (int l = 0; l < parts.size(); l++) {
        jobs.describe("loading R, level " + (l + 1) + " of " + parts.size());
        JavaRDD<byte[]> level = held.persist(level(conf, head.id(), parts.get(l)), storage);
        JobScope.run(context, "loading R, level " + (l + 1), level::count);
        levels.add(level);
      }
    }
    return new Loaded(head, plan, new FactorLevels(context, plan, levels));
  }

  private JavaRDD<byte[]> level(
      Broadcast<SerializableConfiguration> conf, String id, List<StoredPart> parts) {
    byte[][] frames = parts.stream().map(StoredPart::encode).toArray(byte[][]::new);
    String from = new Path(folder, PARTS).toString();
    return context
        .parallelize(IntStream.range(0, parts.size()).boxed().toList(), parts.size())
        .mapPartitionsWithIndex(
            (p, none) -> StoredPart.decode(frames[p]).read(conf.value().value(), from, id), false)
        .setName("sparqr R, loaded from " + name);
  }
}
