# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A JVM with Spark and Sparqr behind Py4J, for tests that need no PySpark.

The class path is that of the built command line; $SPARQR_CLASSPATH overrules.
"""

import os
import pathlib
import re
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]


def class_path():
    """The class path, or None if nothing is built."""
    given = os.environ.get("SPARQR_CLASSPATH")
    if given:
        return given
    listed = HOME / "spark-connector" / "target" / "cli.classpath"
    classes = HOME / "spark-connector" / "target" / "classes"
    if not listed.exists() or not classes.exists():
        return None
    return f"{classes}{os.pathsep}{listed.read_text().strip()}"


class Gateway:
    """Py4J's gateway and a local Spark session in it."""

    def __init__(self):
        try:
            from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
        except ImportError as e:
            raise unittest.SkipTest(f"py4j cannot be imported: {e}") from e
        path = class_path()
        if path is None:
            raise unittest.SkipTest("Sparqr is not built (run bin/sparqr once)")
        jars = [p for p in path.split(os.pathsep) if re.match(r"py4j-.*\.jar", os.path.basename(p))]
        flags = re.search(r"<spark.jvm.args>(.*)</spark.jvm.args>", (HOME / "pom.xml").read_text())
        port, token = launch_gateway(
            jarpath=jars[0],
            classpath=path,
            javaopts=flags.group(1).split() + ["-Xmx1g"],
            die_on_exit=True,
            enable_auth=True,
        )
        self.gateway = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True)
        )
        self.jvm = self.gateway.jvm
        self.session = (
            self.jvm.org.apache.spark.sql.SparkSession.builder()
            .master("local[2]")
            .appName("sparqr python tests")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .getOrCreate()
        )
        self.session.sparkContext().setLogLevel("OFF")

    def libsvm(self, path):
        """A Dataset with the columns label and features."""
        return self.session.read().format("libsvm").load(str(path))

    def close(self):
        self.session.stop()
        self.gateway.shutdown()
