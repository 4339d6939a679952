# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Fits that another process interrupts. Prints one event per line: JSON with its name and time."""

import json
import pathlib
import random
import tempfile
import threading
import time

import sparqr
from sparqr.ml import SparseQRRegression
from tests.spark import builder, line

SEED = 4
ROWS, COLUMNS = 14_000, 6_000  # one front of 6000 columns: some 340 Gflop


def event(name, **what):
    print(json.dumps({"event": name, "time": time.time(), **what}), flush=True)


def large(spark, folder):
    """Rows of a label and five entries, from a file."""
    random.seed(SEED)
    path = pathlib.Path(folder) / "large.svm"
    with path.open("w") as out:
        for _ in range(ROWS):
            at = sorted(random.sample(range(1, COLUMNS + 1), 5))
            out.write(" ".join(["1", *(f"{j}:{random.uniform(-1, 1)!r}" for j in at)]) + "\n")
    return spark.read.format("libsvm").option("numFeatures", COLUMNS).load(str(path))


class Watch:
    """The work that runs in Spark, from Spark's own status tracking."""

    def __init__(self, spark):
        self.context = spark.sparkContext
        self.jvm = self.context._jvm
        self.tracker = self.context.statusTracker()

    def stages(self):
        found = map(self.tracker.getStageInfo, self.tracker.getActiveStageIds())
        return [s.name for s in found if s is not None and s.numActiveTasks > 0]

    def tasks(self):
        executors = self.context._jsc.sc().statusTracker().getExecutorInfos()
        return sum(e.numRunningTasks() for e in executors)

    def jobs(self):
        return sorted(self.tracker.getActiveJobsIds())

    def threads(self):
        """Python's threads, and the number of JVM connections of Python's threads and of the backend itself."""
        names = [t.getName() for t in self.jvm.java.lang.Thread.getAllStackTraces().keySet()]
        ours = [n for n in names if n.startswith(("Thread-", "sparqr-cpu"))]
        # the JVM numbers its connections upwards
        return sorted(t.name for t in threading.enumerate()), len(ours)

    def tell_when(self, stage, name, **what):
        """Runs in a thread until called off: prints an event once a stage of that name runs."""
        off = threading.Event()

        def look():
            while not any(stage in s for s in self.stages()):
                if off.wait(0.1):
                    return
            time.sleep(0.5)
            event(name, groups=self.groups(), **what)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()

        def call_off():
            off.set()
            thread.join()

        return call_off

    def groups(self):
        """The caller's groups with running work."""
        running = set(self.jobs())
        known = ("night", "other")
        return [g for g in known if running & set(self.tracker.getJobIdsForGroup(g))]

    def ends(self, jobs=0, tasks=0):
        """Waits until at most that many jobs and tasks run."""
        until = time.time() + 20
        while time.time() < until and (len(self.jobs()) > jobs or self.tasks() > tasks):
            time.sleep(0.05)
        event("ended", jobs=len(self.jobs()), tasks=self.tasks())


def interrupted(work, watch, name, **left):
    """Does the work, which will be interrupted; prints what is still running afterwards."""
    call_off = watch.tell_when("level 1 of 1", "running", case=name)
    try:
        work()
        event("not interrupted", case=name)
    except BaseException as e:
        event("interrupted", case=name, error=type(e).__name__, said=str(e))
    call_off()
    watch.ends(**left)


def small(spark):
    model = SparseQRRegression().fit(line(spark))
    return [model.coefficients[0], model.intercept]


def plain(spark, data, watch):
    """With PySpark's own signal handler: the session was made in the main thread."""
    event("before", answer=small(spark), threads=watch.threads())
    interrupted(lambda: SparseQRRegression(computeStandardErrors=False).fit(data), watch, "fit")
    event("after", answer=small(spark), threads=watch.threads(), jobs=len(watch.jobs()))


def grouped(spark, data, watch):
    """In the caller's job group, while an unrelated job of another thread runs in a different group."""
    context = spark.sparkContext
    other = threading.Thread(target=sleeper, args=(spark,), daemon=True)
    other.start()
    context.setJobGroup("night", "by the caller")
    while "other" not in watch.groups():
        time.sleep(0.1)
    interrupted(lambda: sparqr.solve(data), watch, "solve", jobs=1, tasks=1)
    group = context.getLocalProperty("spark.jobGroup.id")
    event("after", answer=small(spark), jobs=len(watch.jobs()), group=group, other=other.is_alive())
    context.cancelJobGroup("other")
    other.join()
    for name in ("spark.jobGroup.id", "spark.job.description"):
        context.setLocalProperty(name, None)


def sleeper(spark):
    """A job of several minutes, in a group of its own; cancelled at the end."""
    spark.sparkContext.setJobGroup("other", "sleeps", True)
    nap = "java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', 600000000000L)"
    try:
        spark.range(1).selectExpr(nap).collect()
    except Exception:
        pass


def tuned(spark, data, watch):
    """A cross-validation fits in threads of a pool, which never see the interrupt."""
    from pyspark.ml.evaluation import RegressionEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    stage = SparseQRRegression(computeStandardErrors=False)
    grid = ParamGridBuilder().addGrid(stage.regParam, [0.0, 1.0, 2.0]).build()
    validator = CrossValidator(
        estimator=stage, estimatorParamMaps=grid, evaluator=RegressionEvaluator(), numFolds=2, seed=1
    )
    interrupted(lambda: validator.fit(data), watch, "tuned")
    time.sleep(1)
    event("after", answer=small(spark), jobs=len(watch.jobs()), tasks=watch.tasks())


def main():
    with tempfile.TemporaryDirectory() as folder:
        spark = builder(memory="2g").getOrCreate()
        data, watch = large(spark, folder), Watch(spark)
        for case in (plain, grouped, tuned):
            case(spark, data, watch)
        event("stopping")
        spark.stop()


if __name__ == "__main__":
    main()
