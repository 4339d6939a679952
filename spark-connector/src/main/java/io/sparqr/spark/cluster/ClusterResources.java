/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import io.sparqr.error.BackendUnavailableException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.MachineBound;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.PayingWorkers;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.RowCost;
import io.sparqr.partition.SpreadCut;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.engine.PlannedPlaces.Place;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The resources for which the tree is cut. On a cluster a worker is an executor or, for a problem
 * that runs on GPUs, the GPUs of an executor that a task gets, with their share of the cores;
 * executors without a GPU then count as CPU workers. In local mode the JVM is one worker with all
 * of its cores and devices, since threads and devices within a task cost less than blocks between
 * tasks.
 *
 * <p>A plan based on this depends only on the numbers of executors, cores and GPUs, never on their
 * load: the same cluster gives the same plan and the same bits.
 */
public final class ClusterResources {
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*([0-9]+)\\s*,\\s*([0-9]+)\\s*,.*]");

  /** Bytes of a row's entry in the shuffle: index and value. */
  private static final long ENTRY_BYTES = 12;

  /** All rows may take at most this fraction of the workers' memory, as 1 / share. */
  private static final long CROWDING_SHARE = 8;

  /** Fraction of a worker's heap that the plan assigns to its concurrent tasks. */
  private static final double PLANNED_SHARE = 0.4;

  /**
   * Fraction of a worker's heap that its concurrent tasks can use; the rest is for Spark and the
   * JVM.
   */
  private static final double USABLE_SHARE = 0.85;

  private static final String HEAP = "give the JVM more heap (spark.driver.memory)";
  private static final String EXECUTOR_MEMORY = "set spark.executor.memory";

  private final List<Worker> workers;
  private final int taskCpus;
  private final boolean local;
  private final ModelRates rates;

  /**
   * One worker.
   *
   * @param name as shown in reports
   * @param place its executor; empty in local mode, or if no executor has registered yet
   * @param cores its share of the cores
   * @param memoryBytes its share of the heap
   * @param device its GPU, if it has one
   */
  record Worker(
      String name,
      Optional<Place> place,
      int cores,
      long memoryBytes,
      Optional<DeviceModel> device) {}

  ClusterResources(List<Worker> workers, int taskCpus, boolean local, ModelRates rates) {
    this.workers = List.copyOf(workers);
    this.taskCpus = taskCpus;
    this.local = local;
    this.rates = rates;
  }

  /** Whether the driver's JVM runs the tasks. */
  static boolean inDriver(Engine engine) {
    return engine.oneJvm();
  }

  /** Whether tasks can open the driver's own files, and share its heap. */
  public static boolean readFilesOfDriver(JavaSparkContext context) {
    return inDriver(Engine.of(context));
  }

  /** Whether what is made ready in the driver's JVM, as classes and devices, serves the tasks. */
  public static boolean useWhatDriverHas(JavaSparkContext context) {
    return inDriver(Engine.of(context));
  }

  /**
   * Rejects a setting under which no task would ever start.
   *
   * @throws BackendUnavailableException if there is such a setting
   */
  public static void check(Engine engine) {
    if (inDriver(engine) && engine.conf().map(c -> c.contains(StageGpus.TASK)).orElse(false)) {
      throw new BackendUnavailableException(
          "spark.task.resource.gpu.amount is set with a local master, where Spark never starts a"
              + " task that wants a GPU: unset it, local tasks share the devices by themselves",
          "cuda");
    }
  }

  /**
   * Reads the resources from the engine; without Spark as for a local master with all cores.
   *
   * @param workers the caller's number of workers, 0 for those present
   * @param verdict the decision on GPUs; if they are required and an executor has not reported any,
   *     the plan assumes one
   */
  public static ClusterResources probe(Engine engine, int workers, DeviceVerdict verdict) {
    return inDriver(engine)
        ? local(engine, workers, verdict.use() ? Backends.devices() : List.of())
        : cluster(engine.context(), workers, verdict);
  }

  private static ClusterResources local(Engine engine, int workers, List<DeviceModel> devices) {
    int cores = engine.cores();
    int count = Math.max(1, workers);
    long memory = Runtime.getRuntime().maxMemory() / count;
    int sharing = devices.isEmpty() ? 1 : (count + devices.size() - 1) / devices.size();
    var list = new ArrayList<Worker>();
    for (int w = 0; w < count; w++) {
      String name =
          devices.isEmpty()
              ? "worker " + w
              : count == 1 ? names(devices.size()) : "device " + w % devices.size();
      Optional<DeviceModel> device =
          devices.isEmpty()
              ? Optional.empty()
              : Optional.of(devices.get(w % devices.size()).sharedBy(sharing));
      list.add(new Worker(name, Optional.empty(), Math.max(1, cores / count), memory, device));
    }
    return engine
        .conf()
        .map(conf -> of(conf, list, true))
        .orElseGet(() -> new ClusterResources(list, 1, true, ModelRates.withoutSpark()));
  }

  private static String names(int devices) {
    return devices == 1 ? "device 0" : "devices 0 to " + (devices - 1);
  }

  private static ClusterResources cluster(
      JavaSparkContext context, int workers, DeviceVerdict verdict) {
    SparkConf conf = context.getConf();
    long memory = conf.getSizeAsBytes("spark.executor.memory", "1g");
    List<Executor> executors = Executor.of(context);
    var there = new ArrayList<Worker>();
    if (executors.isEmpty()) {
      var nobody = new Executor("", "", executorCores(context), StageGpus.promised(conf));
      var its = nobody.devices(conf, Optional.empty(), verdict);
      add(nobody, Optional.empty(), its, StageGpus.perTask(conf), memory, there);
    }
    for (Executor e : executors) {
      List<DeviceModel> gpus = e.devices(conf, DeviceReport.of(e.id()), verdict);
      int each = StageGpus.perTask(conf);
      int slots =
          gpus.isEmpty()
              ? Math.max(1, e.cores() / taskCpus(conf))
              : Math.max(1, gpus.size() / each);
      var place = Optional.of(new Place(e.id(), e.location(), slots));
      add(e, place, gpus, each, memory, there);
    }
    return of(conf, workers > 0 ? take(there, workers) : there, false);
  }

  /**
   * Adds an executor's workers: one, or one for the GPUs of a task.
   *
   * @param each GPUs that a task gets
   */
  private static void add(
      Executor e,
      Optional<Place> place,
      List<DeviceModel> gpus,
      int each,
      long memory,
      List<Worker> there) {
    int share = Math.max(1, gpus.size() / each);
    int cores = Math.max(1, e.cores() / share);
    for (int d = 0; d < share; d++) {
      String name = "executor " + e.id() + (share > 1 ? ", device " + d * each : "");
      Optional<DeviceModel> device =
          gpus.isEmpty() ? Optional.empty() : Optional.of(gpus.get(d * each));
      there.add(new Worker(name, place, cores, memory / share, device));
    }
  }

  /** The given number of workers, repeating those present in turn. */
  private static List<Worker> take(List<Worker> there, int count) {
    var list = new ArrayList<Worker>();
    for (int w = 0; w < count; w++) {
      list.add(there.get(w % there.size()));
    }
    return list;
  }

  /** Cores of an executor that has not registered yet. */
  private static int executorCores(JavaSparkContext context) {
    Matcher m = LOCAL_CLUSTER.matcher(context.master());
    int all = m.matches() ? Integer.parseInt(m.group(2)) : 0;
    int configured = context.getConf().getInt("spark.executor.cores", all);
    return configured > 0 ? configured : Math.max(1, context.sc().defaultParallelism());
  }

  private static ClusterResources of(SparkConf conf, List<Worker> list, boolean local) {
    return new ClusterResources(list, taskCpus(conf), local, ModelRates.of(conf));
  }

  private static int taskCpus(SparkConf conf) {
    return Math.max(1, conf.getInt("spark.task.cpus", 1));
  }

  /** Whether driver and executors are one JVM. */
  public boolean local() {
    return local;
  }

  /** The value of spark.task.cpus. */
  public int taskCpus() {
    return taskCpus;
  }

  /** The model for cutting the tree: few tasks at a time, each with much heap. */
  public ResourceModel model() {
    return model(workers.size() == 1 ? 1 : 2);
  }

  /**
   * As above, for the given number of concurrent tasks per worker, or its maximum if that is less.
   * They share a fraction of its heap; the rest is left for Spark and as a reserve.
   */
  private ResourceModel model(int atOnce) {
    var list = new ArrayList<ResourceModel.Worker>();
    for (Worker w : workers) {
      double flops = w.cores() * rates.coreFlops();
      long heap = (long) (PLANNED_SHARE * w.memoryBytes()) / Math.min(atOnce, slots(w));
      list.add(
          w.device()
              .map(d -> ResourceModel.Worker.gpu(w.name(), rates.device(d)))
              .orElseGet(() -> ResourceModel.Worker.cpu(w.name(), flops, heap)));
    }
    boolean devices = workers.stream().anyMatch(w -> w.device().isPresent());
    double blocks = devices ? rates.blocks() : Double.POSITIVE_INFINITY;
    double level = rates.levelSeconds(local && devices);
    return new ResourceModel(list, rates.network(), level, blocks);
  }

  /**
   * Cuts the tree. If some tasks would not fit in their worker's heap, it is cut again with less
   * heap per task: into smaller tasks, as many at a time as the worker's cores can run.
   *
   * @param rhs right-hand sides carried along
   * @throws InsufficientMemoryException if that does not fit either
   */
  public TreePartition cut(SymbolicAnalysis analysis, PartitionOptions options, int rhs) {
    TreePartition cut = TreePartitioner.partition(analysis, model(), options, rhs);
    try {
      requireMemory(cut);
      return cut;
    } catch (InsufficientMemoryException e) {
      cut = TreePartitioner.partition(analysis, model(Integer.MAX_VALUE), options, rhs);
      requireMemory(cut);
      return cut;
    }
  }

  /**
   * The bound of the whole machine: all devices at the limit of the hardware, or at a higher rate
   * that the configuration states, beside all cores at theirs.
   */
  public MachineBound bound() {
    double devices = 0;
    double cores = 0;
    double most = 0;
    for (Worker w : workers) {
      if (w.device().isPresent()) {
        double peak = w.device().get().flopsPerSecond() / DeviceModel.PEAK_SHARE;
        devices += Math.max(MachineBound.DEVICE_LIMIT * peak, rates.deviceFlops());
      }
      double own = w.cores() * Math.max(MachineBound.CORE_FLOPS, rates.coreFlops());
      cores += own;
      most = Math.max(most, own);
    }
    return new MachineBound(devices, cores, local ? cores : most);
  }

  /**
   * The cut that is used.
   *
   * @param analysis of which it is the cut: the given one, or that with its tall fronts spread
   * @param resources these, with the cores and heap of a JVM shared by those workers that are used
   * @param cut the cut; its workers are numbered as here
   * @param workers how many are used
   * @param reason why so many, and why tall fronts are spread, in one line; empty if there was no
   *     choice
   */
  public record Planned(
      SymbolicAnalysis analysis,
      ClusterResources resources,
      TreePartition cut,
      int workers,
      String reason) {

    private Planned spreadFrom(Planned given) {
      String spread =
          String.format(
              Locale.ROOT,
              "tall fronts are spread: predicted %.3g s, %.3g s otherwise",
              cut.estimatedSeconds(),
              given.cut.estimatedSeconds());
      String why = reason.isEmpty() ? spread : reason + "; " + spread;
      return new Planned(analysis, resources, cut, workers, why);
    }
  }

  /**
   * Cuts the tree for as many of the workers as pay ({@link PayingWorkers}), or for all. Among CPU
   * workers tall fronts are spread ({@link SymbolicAnalyzer#spread}) if that is foretold to be
   * faster. A device reduces a tall front in less time than blocks take to it.
   *
   * @param rhs right-hand sides carried along
   * @param all whether the caller has said for how many
   * @throws InsufficientMemoryException if all of them have too little memory
   */
  public Planned plan(SymbolicAnalysis analysis, PartitionOptions options, int rhs, boolean all) {
    Planned given = planned(analysis, options, rhs, all);
    if (workers.size() == 1 || !SpreadCut.onlyProcessors(model())) {
      return given;
    }
    Optional<SymbolicAnalysis> spread = SymbolicAnalyzer.spread(analysis);
    if (spread.isEmpty()) {
      return given;
    }
    try {
      Planned other = planned(spread.get(), options, rhs, all);
      return SpreadCut.pays(other.cut(), given.cut()) ? other.spreadFrom(given) : given;
    } catch (InsufficientMemoryException e) {
      return given;
    }
  }

  private Planned planned(
      SymbolicAnalysis analysis, PartitionOptions options, int rhs, boolean all) {
    int count = workers.size();
    if (all || count == 1 || options.minLevels() > 1) {
      return new Planned(analysis, this, cut(analysis, options, rhs), count, "");
    }
    ResourceModel model = model();
    boolean host = SpreadCut.onlyProcessors(model);
    RowCost rows = host ? RowCost.of(analysis, options) : new RowCost(0, 0);
    PayingWorkers.Choice choice =
        PayingWorkers.choose(
            count,
            kind(),
            k -> rows.seconds(model.only(PayingWorkers.fastest(model, k))),
            k -> {
              int[] used = PayingWorkers.fastest(model, k);
              ClusterResources some = sharedBy(k).only(used);
              try {
                return Optional.of(some.cut(analysis, options, rhs).onto(used));
              } catch (InsufficientMemoryException e) {
                if (k == count) {
                  throw e;
                }
                return Optional.empty();
              }
            });
    return new Planned(
        analysis, sharedBy(choice.workers()), choice.cut(), choice.workers(), choice.reason());
  }

  /** In the plural. */
  private String kind() {
    boolean devices = workers.stream().allMatch(w -> w.device().isPresent());
    return devices ? "devices" : local ? "workers" : "executors";
  }

  /** The same workers if only some are used: those of one JVM have more of its cores and heap. */
  private ClusterResources sharedBy(int used) {
    if (!local || used == workers.size()) {
      return this;
    }
    int cores = workers.stream().mapToInt(Worker::cores).sum();
    long memory = workers.stream().mapToLong(Worker::memoryBytes).sum();
    var list =
        workers.stream()
            .map(
                w ->
                    new Worker(
                        w.name(), w.place(), Math.max(1, cores / used), memory / used, w.device()))
            .toList();
    return new ClusterResources(list, taskCpus, true, rates);
  }

  private ClusterResources only(int... some) {
    var list = Arrays.stream(some).mapToObj(workers::get).toList();
    return new ClusterResources(list, taskCpus, local, rates);
  }

  /** Number of tasks that a worker runs at a time. */
  private int slots(Worker w) {
    return w.device().isPresent() ? 1 : Math.max(1, w.cores() / taskCpus);
  }

  /**
   * The largest front that the best of the workers can hold. Where devices factor, the stages of a
   * task are made to fit them.
   */
  public FrontLimit frontLimit() {
    if (workers.stream().anyMatch(w -> w.device().isPresent())) {
      return FrontLimit.none();
    }
    Worker best =
        (local ? sharedBy(1) : this)
            .workers.stream().max(Comparator.comparingLong(Worker::memoryBytes)).orElseThrow();
    int cores = workers.stream().mapToInt(Worker::cores).sum();
    return new FrontLimit(
        best.name(),
        (long) (USABLE_SHARE * best.memoryBytes()),
        cores * rates.coreFlops(),
        workers.size() > 1,
        local ? HEAP : EXECUTOR_MEMORY);
  }

  /**
   * Memory of the best of the workers for each of the tasks that it runs at a time; with a local
   * master a single task may have it all.
   */
  public long taskBytes() {
    return (local ? sharedBy(1) : this)
        .workers.stream()
            .mapToLong(w -> (long) (USABLE_SHARE * w.memoryBytes()) / (local ? 1 : slots(w)))
            .max()
            .orElseThrow();
  }

  /**
   * Rejects a cut in which concurrent tasks need more heap than their worker has. (Device memory
   * does not matter here, because the stages of a task are made to fit.)
   *
   * @throws InsufficientMemoryException naming the largest of them
   */
  void requireMemory(TreePartition cut) {
    for (int level = 0; level < cut.levels(); level++) {
      var byWorker = new TreeMap<Integer, List<SubtreeTask>>();
      for (SubtreeTask t : cut.level(level)) {
        byWorker.computeIfAbsent(t.worker(), w -> new ArrayList<>()).add(t);
      }
      byWorker.forEach((w, tasks) -> requireMemory(workers.get(w), tasks));
    }
  }

  private void requireMemory(Worker w, List<SubtreeTask> tasks) {
    tasks.sort(Comparator.comparingLong(t -> -t.hostBytes()));
    int atOnce = Math.min(slots(w), tasks.size());
    long need = 0;
    for (SubtreeTask t : tasks.subList(0, atOnce)) {
      need = FrontMemory.add(need, t.hostBytes());
    }
    long have = (long) (USABLE_SHARE * w.memoryBytes());
    if (need <= have) {
      return;
    }
    SubtreeTask t = tasks.get(0);
    String others = atOnce == 1 ? "" : " and %d others beside it".formatted(atOnce - 1);
    String set =
        local ? HEAP : EXECUTOR_MEMORY + (atOnce > 1 ? ", or fewer cores an executor" : "");
    throw new InsufficientMemoryException(
        ("task %d (level %d, %,d fronts)%s would need %,d MB for rows, fronts and contribution"
                + " blocks; %s has %,d MB for them: %s")
            .formatted(
                t.id(),
                t.level() + 1,
                t.fronts().length,
                others,
                need >> 20,
                w.name(),
                have >> 20,
                set),
        need,
        have);
  }

  /**
   * Maximum flops of the map-side combine per entry received. If CPUs factor, the combine does part
   * of their work earlier and on all executors, at any cost. GPUs do that work in far less time, so
   * combining pays only if it costs less than sending the entry, unless there are enough rows to
   * crowd the workers' memory.
   *
   * @param nonzeros entries of A
   */
  public double combineFlops(long nonzeros) {
    boolean devices = workers.stream().allMatch(w -> w.device().isPresent());
    long memory = workers.stream().mapToLong(Worker::memoryBytes).min().orElse(0);
    return devices && ENTRY_BYTES * nonzeros <= memory / CROWDING_SHARE
        ? rates.coreFlops() * ENTRY_BYTES / rates.network()
        : Double.POSITIVE_INFINITY;
  }

  /**
   * Threads for each task of a level: its worker's cores divided by the worker's concurrent tasks,
   * but at least spark.task.cpus. A GPU runs one task at a time.
   */
  public int[] threads(List<SubtreeTask> tasks) {
    int[] load = new int[workers.size()];
    for (SubtreeTask t : tasks) {
      load[t.worker()]++;
    }
    int[] threads = new int[tasks.size()];
    for (int i = 0; i < threads.length; i++) {
      Worker w = workers.get(tasks.get(i).worker());
      int atOnce = Math.min(load[tasks.get(i).worker()], slots(w));
      threads[i] = Math.max(taskCpus, w.cores() / atOnce);
    }
    return threads;
  }

  /** The preferred places for the tasks of a level. */
  public PlannedPlaces places(SparkContext context, List<SubtreeTask> tasks) {
    return new PlannedPlaces(
        context, tasks.stream().map(t -> workers.get(t.worker()).place()).toList());
  }
}
