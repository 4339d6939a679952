/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.configuration.Keys;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.PlannedPlaces.Place;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

/** The cluster as the cut of the tree and the tasks see it. */
class ClusterResourcesTest {

  private static final DeviceVerdict NONE = new DeviceVerdict.Refuse("");
  private static final DeviceVerdict WHERE_THERE = new DeviceVerdict.Use(false, "");
  private static final DeviceVerdict REQUIRED = new DeviceVerdict.Use(true, "");

  private static final ModelRates RATES = ModelRates.of(new SparkConf(false));
  private static final DeviceModel SMALL = new DeviceModel(1e12, 7e9, 16L << 30);

  private static ClusterResources.Worker executor(int id, int cores, int slots, boolean gpu) {
    var place = Optional.of(new Place("" + id, "executor_host_" + id, slots));
    Optional<DeviceModel> device = gpu ? Optional.of(SMALL) : Optional.empty();
    return new ClusterResources.Worker("executor " + id, place, cores, 1L << 30, device);
  }

  private static List<SubtreeTask> tasks(int... workers) {
    int[] none = {};
    return IntStream.range(0, workers.length)
        .mapToObj(i -> new SubtreeTask(i, 0, none, none, none, workers[i], 0, 0, 0))
        .toList();
  }

  @Test
  void threadsAreTheWorkersCoresOverItsTasks() {
    var two =
        new ClusterResources(
            List.of(executor(0, 8, 8, false), executor(1, 4, 4, false)), 1, false, RATES);
    assertThat(two.threads(tasks(0))).containsExactly(8);
    assertThat(two.threads(tasks(0, 1))).containsExactly(8, 4);
    assertThat(two.threads(tasks(0, 0, 1, 1, 1))).containsExactly(4, 4, 1, 1, 1);
    assertThat(two.threads(tasks(new int[100]))).containsOnly(1);
    var large = new ClusterResources(List.of(executor(0, 8, 4, false)), 2, false, RATES);
    assertThat(large.threads(tasks(new int[100]))).containsOnly(2);
    var gpu = new ClusterResources(List.of(executor(0, 8, 1, true)), 1, false, RATES);
    assertThat(gpu.threads(tasks(0, 0))).containsExactly(8, 8);
  }

  private static TreePartition needing(long... bytes) {
    int[] none = {};
    List<SubtreeTask> tasks =
        IntStream.range(0, bytes.length)
            .mapToObj(i -> new SubtreeTask(i, 0, none, none, none, 0, 0, bytes[i], bytes[i]))
            .toList();
    return new TreePartition(tasks, 1, new int[0], 0, 0);
  }

  @Test
  void tasksThatRunAtOnceFitOrAreRefused() {
    var one = new ClusterResources(List.of(executor(0, 2, 2, false)), 1, false, RATES);
    long most = (long) (0.85 * (1L << 30));
    one.requireMemory(needing(most));
    one.requireMemory(needing(most / 2, most / 2, most / 2));
    assertThatThrownBy(() -> one.requireMemory(needing(5, most + 1)))
        .isInstanceOf(InsufficientMemoryException.class)
        .hasMessageContaining("task 1 (level 1, 0 fronts) and 1 others beside it would need 870 MB")
        .hasMessageContaining("executor 0 has 870 MB")
        .hasMessageContaining("spark.executor.memory, or fewer cores");
    assertThatThrownBy(() -> one.requireMemory(needing(most / 2, most / 2 + 2, 7)))
        .isInstanceOf(InsufficientMemoryException.class);
    var gpu = new ClusterResources(List.of(executor(0, 2, 2, true)), 1, false, RATES);
    int[] none = {};
    var task = new SubtreeTask(0, 0, none, none, none, 0, 0, 1L << 40, most);
    gpu.requireMemory(new TreePartition(List.of(task), 1, new int[0], 0, 0));
    // The data around the device must still fit the heap.
    assertThatThrownBy(() -> gpu.requireMemory(needing(most + 1)))
        .isInstanceOf(InsufficientMemoryException.class);
  }

  /** A tree whose large tasks do not fit is cut into smaller ones, or refused. */
  @Test
  void aTreeThatDoesNotFitIsCutSmaller() {
    var analysis =
        SymbolicAnalyzer.analyze(
            Gallery.generate("cells2d120").pattern(), SymbolicOptions.defaults());
    var options = new PartitionOptions(2, 4, 1, 0);
    long whole = cut(analysis, options, 1L << 40).tasks().get(0).peakBytes();
    TreePartition small = cut(analysis, options, whole);
    assertThat(small.tasks()).hasSizeGreaterThan(1);
    assertThat(small.tasks()).allMatch(t -> t.peakBytes() <= 0.85 * whole);
    assertThatThrownBy(() -> cut(analysis, options, whole / 50))
        .isInstanceOf(InsufficientMemoryException.class);
  }

  /** Only as many devices of a JVM are used as pay, with its whole heap and all its cores. */
  @Test
  void moreDevicesAreTakenOnlyWhereTheyPay() {
    var analysis =
        SymbolicAnalyzer.analyze(
            Gallery.generate("cells2d120").pattern(), SymbolicOptions.defaults());
    var options = new PartitionOptions(2, 4, 1, 0);
    ClusterResources fast = devices(1e12);
    ClusterResources.Planned one = fast.plan(analysis, options, 1, false);
    assertThat(one.workers()).isEqualTo(1);
    assertThat(one.reason()).startsWith("1 of 2 devices: predicted").endsWith("does not pay");
    assertThat(one.cut().tasks()).allMatch(t -> t.worker() == 0);
    assertThat(one.resources().threads(one.cut().tasks())).containsOnly(8);
    ClusterResources.Planned asked = fast.plan(analysis, options, 1, true);
    assertThat(asked.workers()).isEqualTo(2);
    assertThat(asked.reason()).isEmpty();
    ClusterResources.Planned two = devices(1e7).plan(analysis, options, 1, false);
    assertThat(two.workers()).isEqualTo(2);
    assertThat(two.reason()).startsWith("2 of 2 devices: predicted").contains(", on one ");
    assertThat(two.cut().tasks()).extracting(SubtreeTask::worker).contains(0, 1);
    assertThat(two.resources().threads(two.cut().tasks())).containsOnly(4);
  }

  /** Between CPU executors, and only between several of them; the plan's cut is of that tree. */
  @Test
  void tallFrontsAreSpreadOverExecutors() {
    var analysis =
        SymbolicAnalyzer.analyze(
            Gallery.generate("nug15:rand").pattern(), SymbolicOptions.defaults());
    var options = PartitionOptions.defaults().withCombinedParts(4);
    ClusterResources.Planned one = processors(1).plan(analysis, options, 1, false);
    assertThat(one.analysis()).isSameAs(analysis);
    assertThat(devices(1e10).plan(analysis, options, 1, true).analysis()).isSameAs(analysis);
    for (boolean all : new boolean[] {false, true}) {
      ClusterResources.Planned two = processors(2).plan(analysis, options, 1, all);
      assertThat(two.workers()).isEqualTo(2);
      assertThat(two.analysis().fronts()).isGreaterThan(analysis.fronts());
      assertThat(two.cut().taskOfFront().size()).isEqualTo(two.analysis().fronts());
      assertThat(two.reason()).contains("tall fronts are spread: predicted ");
      double alone = one.cut().estimatedSeconds();
      assertThat(alone / two.cut().estimatedSeconds()).isBetween(1.4, 2.0);
      ClusterResources.Planned again = processors(2).plan(two.analysis(), options, 1, all);
      assertThat(again.analysis()).as("spread already").isSameAs(two.analysis());
    }
  }

  private static ClusterResources processors(int count) {
    var workers =
        IntStream.range(0, count)
            .mapToObj(
                w ->
                    new ClusterResources.Worker(
                        "executor " + w, Optional.empty(), 1, 4L << 30, Optional.empty()))
            .toList();
    return new ClusterResources(workers, 1, false, RATES);
  }

  private static ClusterResources devices(double flops) {
    var model = Optional.of(new DeviceModel(flops, 1e11, 16L << 30));
    var workers =
        IntStream.range(0, 2)
            .mapToObj(
                d ->
                    new ClusterResources.Worker(
                        "device " + d, Optional.empty(), 4, 4L << 30, model))
            .toList();
    return new ClusterResources(workers, 1, true, RATES);
  }

  private static TreePartition cut(SymbolicAnalysis a, PartitionOptions options, long heap) {
    var worker =
        new ClusterResources.Worker("worker 0", Optional.empty(), 1, heap, Optional.empty());
    return new ClusterResources(List.of(worker), 1, true, RATES).cut(a, options, 1);
  }

  @Test
  void aTaskGetsTheGpusThatSparkPromises() {
    var conf = new SparkConf(false);
    assertThat(StageGpus.perTask(conf)).isEqualTo(1);
    assertThat(StageGpus.perTask(conf.set(StageGpus.TASK, "0.5"))).isEqualTo(1);
    assertThat(StageGpus.perTask(conf.set(StageGpus.TASK, "2"))).isEqualTo(2);
  }

  @Test
  void theModelTellsCpusFromGpus() {
    var mixed =
        new ClusterResources(
            List.of(executor(0, 8, 8, false), executor(1, 16, 1, true)), 1, false, RATES);
    ResourceModel model = mixed.model();
    ResourceModel.Worker cpu = model.workers().get(0);
    assertThat(cpu.flopsPerSecond()).isEqualTo(8 * 2e10);
    // 0.4 of it for two tasks at once
    assertThat(cpu.memoryBytes()).isEqualTo((long) (0.4 * (1L << 30)) / 2);
    assertThat(cpu.device()).isFalse();
    assertThat(model.workers().get(1)).isEqualTo(ResourceModel.Worker.gpu("executor 1", SMALL));
    assertThat(model.networkBytesPerSecond()).isEqualTo(1e9);
    assertThat(model.levelSeconds()).isEqualTo(0.1);
  }

  @Test
  void rowsForGpusAreCombinedOnlyWhereSendingThemIsDearer() {
    var cpus = new ClusterResources(List.of(executor(0, 8, 8, false)), 1, false, RATES);
    assertThat(cpus.combineFlops(1000)).isInfinite();
    var gpu = executor(1, 16, 1, true);
    var gpus = new ClusterResources(List.of(gpu, gpu), 1, false, RATES);
    // 20 Gflop/s a core, 12 bytes at 1 GB/s
    assertThat(gpus.combineFlops(1000)).isEqualTo(240);
    // more than an eighth of the gigabyte that each has
    assertThat(gpus.combineFlops(20_000_000)).isInfinite();
    var mixed = new ClusterResources(List.of(gpu, executor(0, 8, 8, false)), 1, false, RATES);
    assertThat(mixed.combineFlops(1000)).isInfinite();
  }

  @Test
  void theSparkConfigurationHasTheLastWordOnRates() {
    SparkConf conf =
        new SparkConf(false)
            .set(Keys.CORE_FLOPS.name(), "3e10")
            .set(Keys.DEVICE_FLOPS.name(), "5e12")
            .set(Keys.DEVICE_MEMORY.name(), "40g")
            .set(Keys.NETWORK_BANDWIDTH.name(), "1.25e10")
            .set(Keys.LEVEL_SECONDS.name(), "0.3");
    ModelRates rates = ModelRates.of(conf);
    assertThat(rates.coreFlops()).isEqualTo(3e10);
    assertThat(rates.device(SMALL)).isEqualTo(new DeviceModel(5e12, 7e9, 40L << 30));
    assertThat(rates.network()).isEqualTo(1.25e10);
    assertThat(rates.levelSeconds(true)).isEqualTo(0.3);
    assertThat(RATES.levelSeconds(true)).isEqualTo(0.01);
    assertThat(RATES.levelSeconds(false)).isEqualTo(0.1);
    assertThat(RATES.device(SMALL)).isEqualTo(SMALL);
    for (String bad : List.of("fast", "0", "-1", "NaN", "Infinity")) {
      conf.set(Keys.NETWORK_BANDWIDTH.name(), bad);
      assertThatThrownBy(() -> ModelRates.of(conf))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              Keys.NETWORK_BANDWIDTH.name() + " = " + bad + ": a positive number is expected");
    }
  }

  @Test
  void aLocalMasterIsOneWorkerOrAsManyAsTheCallerSays() {
    var context = LocalSpark.context();
    ClusterResources one = ClusterResources.probe(Engine.of(context), 0, NONE);
    assertThat(one.local()).isTrue();
    assertThat(one.threads(tasks(0))).containsExactly(2);
    assertThat(one.model().workers()).hasSize(1);
    ClusterResources three = ClusterResources.probe(Engine.of(context), 3, NONE);
    assertThat(three.model().workers()).hasSize(3);
    assertThat(three.threads(tasks(0, 1, 2))).containsExactly(1, 1, 1);
    assertThat(three.places(context.sc(), tasks(0, 1, 2)).of(1)).isEmpty();
  }

  @Test
  void noPlaceIsNamedWhoseExecutorSparkDoesNotHave() {
    var gone =
        new ClusterResources(List.of(executor(17, 8, 8, false)), 1, false, RATES)
            .places(LocalSpark.context().sc(), tasks(0));
    assertThat(gone.of(0)).isEmpty();
  }

  @Test
  void gpusCountThatTasksWillGet() {
    var plain = new SparkConf(false);
    SparkConf granting = new SparkConf(false).set("spark.executor.resource.gpu.amount", "2");
    SparkConf visible = new SparkConf(false).set("spark.executorEnv.CUDA_VISIBLE_DEVICES", "0,1,2");
    DeviceModel h200 = DeviceModel.reference();
    var none = new Executor("0", "host", 8, 0);
    var two = new Executor("1", "host", 8, 2);
    Optional<DeviceReport> silent = Optional.empty();
    Optional<DeviceReport> free =
        Optional.of(new DeviceReport("0", true, List.of(SMALL), List.of()));
    Optional<DeviceReport> kept =
        Optional.of(new DeviceReport("0", false, List.of(SMALL), List.of()));
    Optional<DeviceReport> bare = Optional.of(new DeviceReport("0", false, List.of(), List.of()));
    assertThat(none.devices(plain, silent, WHERE_THERE)).isEmpty();
    assertThat(none.devices(plain, free, WHERE_THERE)).containsExactly(SMALL);
    assertThat(none.devices(plain, kept, WHERE_THERE)).isEmpty();
    assertThat(none.devices(visible, silent, WHERE_THERE)).containsExactly(h200, h200, h200);
    assertThat(none.devices(visible, bare, WHERE_THERE)).isEmpty();
    assertThat(two.devices(plain, silent, WHERE_THERE)).isEmpty();
    assertThat(two.devices(granting, silent, WHERE_THERE)).containsExactly(h200, h200);
    assertThat(two.devices(granting, kept, WHERE_THERE)).containsExactly(SMALL, SMALL);
    assertThat(two.devices(granting, bare, WHERE_THERE)).isEmpty();
    assertThat(none.devices(granting, silent, WHERE_THERE)).isEmpty();
    assertThat(two.devices(granting, silent, NONE)).isEmpty();
  }

  @Test
  void requiredGpusAreCountedOnUnlessTheyAreKnownNotToBeThere() {
    var plain = new SparkConf(false);
    SparkConf granting = new SparkConf(false).set("spark.executor.resource.gpu.amount", "2");
    SparkConf visible = new SparkConf(false).set("spark.executorEnv.CUDA_VISIBLE_DEVICES", "0,1,2");
    var none = new Executor("0", "host", 8, 0);
    Optional<DeviceReport> bare = Optional.of(new DeviceReport("0", false, List.of(), List.of()));
    assertThat(none.devices(plain, Optional.empty(), REQUIRED))
        .containsExactly(DeviceModel.reference());
    assertThat(none.devices(visible, Optional.empty(), REQUIRED)).hasSize(3);
    assertThat(none.devices(plain, bare, REQUIRED)).isEmpty();
    assertThat(none.devices(granting, Optional.empty(), REQUIRED)).isEmpty();
  }
}
