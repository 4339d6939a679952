# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Puts the jar into the wheel. If the jar is missing or older than its sources, Maven builds it
first.
"""

import os
import pathlib
import platform
import runpy
import shutil
import subprocess
import sys
import zipfile

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
MODULES = ("partitioning", "gpu-core", "spark-connector", "regression", "cli", "distribution")
JAR = TREE / "distribution" / "target" / runpy.run_path(str(HERE / "sparqr" / "_version.py"))["JAR"]

KERNELS = "io/sparqr/backend/cuda/rounds."
NVRTC = os.environ.get("SPARQR_NVRTC")


def sources():
    yield TREE / "pom.xml"
    for module in MODULES:
        yield TREE / module / "pom.xml"
        for part in ("main", "build"):
            yield from (path for path in (TREE / module / "src" / part).rglob("*") if path.is_file())


def is_current(kernels):
    """Whether the jar is newer than its sources, and contains kernels if it must."""
    if not JAR.is_file() or any(path.stat().st_mtime > JAR.stat().st_mtime for path in sources()):
        return False
    with zipfile.ZipFile(JAR) as jar:
        return not kernels or any(name.startswith(KERNELS) for name in jar.namelist())


def make_jar():
    """Runs Maven if needed."""
    if not (TREE / "mvnw").is_file():
        sys.exit(f"sparqr's wheel is built in a checkout of Sparqr, where Maven makes its jar: no {TREE / 'mvnw'}")
    flags = []
    kernels = platform.system() == "Linux" and platform.machine() == "x86_64" and NVRTC != "no"
    if kernels:
        # nvcc's kernels, or else NVRTC's: the flag printed by the script lets Maven fetch NVRTC
        ask = [str(TREE / "gpu-core" / "src" / "main" / "cuda" / "build.sh"), "--flags", "release"]
        flags = subprocess.run(ask, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    else:
        print("this wheel may have no CUDA kernels: what is released is built on Linux x86_64", file=sys.stderr)
    if is_current(kernels):
        return
    print(f"building {JAR.name} (the first time Maven downloads Spark and NVRTC, some minutes) ...", file=sys.stderr)
    command = ["./mvnw", "-q", "-B", "-ntp", "-Pquick", "-DskipTests", *flags]
    command += ["-pl", MODULES[-1], "-am", "package"]
    if subprocess.run(command, cwd=TREE, stdin=subprocess.DEVNULL).returncode != 0 or not is_current(kernels):
        sys.exit(f"sparqr: Maven made no jar; in {TREE}: {' '.join(command)}")


class WithJar(build_py):
    """The package and the jar, in a folder without leftovers of an earlier build."""

    def run(self):
        make_jar()
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            folder = pathlib.Path(self.build_lib, "sparqr", "jars")
            folder.mkdir()
            shutil.copy2(JAR, folder)


class InTarget(egg_info):
    """No other command creates its folder."""

    def initialize_options(self):
        super().initialize_options()
        (HERE / "target").mkdir(exist_ok=True)


class NoSdist(sdist):
    """No sdist: a build also needs the Java and CUDA sources, which only the repository has."""

    def run(self):
        sys.exit("sparqr is released as a wheel, and has no sdist: python -m build --wheel")


setup(cmdclass={"build_py": WithJar, "egg_info": InTarget, "sdist": NoSdist})
