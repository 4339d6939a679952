# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""SIGINT in the middle of a long fit, sent to programs in separate processes."""

import json
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest

from tests import spark as with_spark

# The limit promised by sparqr._calls.
SECONDS = 5


class InterruptTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with_spark.require()

    def events(self):
        """Runs the program and interrupts it whenever its fit runs. Yields the program's events and the
        signals.
        """
        process = with_spark.start("interrupted")
        guard = threading.Timer(280, process.kill)
        guard.start()
        try:
            for text in process.stdout:
                said = json.loads(text)
                yield said
                if said["event"] == "running":
                    sent = time.time()
                    os.kill(process.pid, signal.SIGINT)
                    yield {"event": "sent", "time": sent, "case": said["case"]}
            error = process.stderr.read()
            self.assertEqual(process.wait(), 0, error)
            self.assertNotIn("Traceback", error)
        finally:
            guard.cancel()
            process.kill()
            process.communicate()

    def check_interrupted(self, events, case, jobs=0, tasks=0):
        """A fit is interrupted within the time limit, and none of its work remains."""
        said = [next(events) for _ in range(4)]
        self.assertEqual([e["event"] for e in said], ["running", "sent", "interrupted", "ended"], said)
        running, sent, interrupted, ended = said
        self.assertEqual(interrupted["case"], case)
        self.assertEqual(interrupted["error"], "KeyboardInterrupt", said)
        self.assertLess(interrupted["time"] - sent["time"], SECONDS, said)
        self.assertLess(ended["time"] - sent["time"], SECONDS, said)
        self.assertEqual((ended["jobs"], ended["tasks"]), (jobs, tasks))
        return running

    def check_answer(self, said):
        self.assertAlmostEqual(said["answer"][0], 2.1, places=12)
        self.assertAlmostEqual(said["answer"][1], -1.3, places=12)

    def test_in_plain_python(self):
        events = self.events()
        before = next(events)
        running = self.check_interrupted(events, "fit")
        self.assertEqual(running["groups"], [])
        after = next(events)
        self.check_answer(after)
        self.assertEqual(after["threads"], before["threads"])
        self.assertEqual(after["jobs"], 0)
        # in the caller's group, while a job of another thread runs in a different group
        running = self.check_interrupted(events, "solve", jobs=1, tasks=1)
        self.assertEqual(running["groups"], ["night", "other"])
        after = next(events)
        self.check_answer(after)
        self.assertEqual((after["group"], after["other"], after["jobs"]), ("night", True, 1))
        # in the thread pool of a cross-validation
        self.check_interrupted(events, "tuned")
        after = next(events)
        self.check_answer(after)
        self.assertEqual((after["jobs"], after["tasks"]), (0, 0))
        self.assertEqual([e["event"] for e in events], ["stopping"])

    def test_in_a_notebook(self):
        with_spark.require("ipykernel", "jupyter_client")
        from jupyter_client.manager import start_new_kernel

        with tempfile.TemporaryDirectory() as folder:
            marker = pathlib.Path(folder) / "running"
            manager, client = start_new_kernel(
                kernel_name="python3", env=with_spark.environment(), cwd=folder
            )
            try:
                self.cell(client, NOTEBOOK_START.format(folder=folder))
                self.cell(client, NOTEBOOK_WATCH.format(marker=str(marker)))
                # after an error a kernel refuses for a moment what comes next, unless told otherwise
                asked = client.execute(
                    "SparseQRRegression(computeStandardErrors=False).fit(data)", stop_on_error=False
                )
                while not marker.exists():
                    time.sleep(0.05)
                sent = time.time()
                manager.interrupt_kernel()
                reply = self.reply(client, asked)
                self.assertEqual((reply["status"], reply["ename"]), ("error", "KeyboardInterrupt"))
                self.assertLess(time.time() - sent, SECONDS)
                said = self.cell(client, "watch.ends(); event('after', answer=small(spark))")
                ended, after = (json.loads(text) for text in said.splitlines())
                self.assertEqual((ended["jobs"], ended["tasks"]), (0, 0))
                self.assertLess(ended["time"] - sent, SECONDS)
                self.check_answer(after)
                self.cell(client, "spark.stop()")
            finally:
                client.stop_channels()
                manager.shutdown_kernel(now=True)

    def reply(self, client, asked):
        while True:
            reply = client.get_shell_msg(timeout=120)
            if reply["parent_header"].get("msg_id") == asked:
                return reply["content"]

    def cell(self, client, source):
        """The output of a cell; AssertionError if it fails."""
        printed = []
        reply = client.execute_interactive(
            source,
            timeout=120,
            output_hook=lambda m: m["msg_type"] == "stream"
            and m["content"]["name"] == "stdout"
            and printed.append(m["content"]["text"]),
        )
        content = reply["content"]
        self.assertEqual(content["status"], "ok", content)
        return "".join(printed)


NOTEBOOK_START = """
from tests.programs.interrupted import *
spark = builder(memory="2g").getOrCreate()
data = large(spark, {folder!r})
small(spark)
watch = Watch(spark)
"""

NOTEBOOK_WATCH = """
import os
def look():
    while not any("level 1 of 1" in s for s in watch.stages()):
        time.sleep(0.1)
    time.sleep(0.5)
    open({marker!r}, "w").close()
threading.Thread(target=look, daemon=True).start()
"""


if __name__ == "__main__":
    unittest.main()
