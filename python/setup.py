# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Puts the jar into the wheel; Maven makes it first where it is missing or older than its sources."""

import pathlib
import runpy
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
MODULES = ("partitioning", "gpu-core", "spark-connector")
JAR = TREE / "spark-connector" / "target" / runpy.run_path(str(HERE / "sparqr" / "_version.py"))["JAR"]


def sources():
    yield TREE / "pom.xml"
    for module in MODULES:
        yield TREE / module / "pom.xml"
        yield from (path for path in (TREE / module / "src" / "main").rglob("*") if path.is_file())


def is_current():
    return JAR.is_file() and all(path.stat().st_mtime <= JAR.stat().st_mtime for path in sources())


def make_jar():
    """Runs Maven if it has to."""
    if not (TREE / "mvnw").is_file():
        sys.exit(f"sparqr's wheel is built in a checkout of Sparqr, where Maven makes its jar: no {TREE / 'mvnw'}")
    if is_current():
        return
    print(f"building {JAR.name} (the first time Maven downloads Spark, some minutes) ...", file=sys.stderr)
    command = ["./mvnw", "-q", "-B", "-ntp", "-Pquick", "-DskipTests", "-pl", MODULES[-1], "-am", "package"]
    if subprocess.run(command, cwd=TREE, stdin=subprocess.DEVNULL).returncode != 0 or not is_current():
        sys.exit(f"sparqr: Maven made no jar; in {TREE}: {' '.join(command)}")


class WithJar(build_py):
    """The package and the jar, in a folder that has nothing left of the build before."""

    def run(self):
        make_jar()
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            folder = pathlib.Path(self.build_lib, "sparqr", "jars")
            folder.mkdir()
            shutil.copy2(JAR, folder)


class InTarget(egg_info):
    """Its folder is made by nobody else."""

    def initialize_options(self):
        super().initialize_options()
        (HERE / "target").mkdir(exist_ok=True)


class NoSdist(sdist):
    """Sources are what the repository has: Java and CUDA, too."""

    def run(self):
        sys.exit("sparqr is released as a wheel, and has no sdist: python -m build --wheel")


setup(cmdclass={"build_py": WithJar, "egg_info": InTarget, "sdist": NoSdist})
