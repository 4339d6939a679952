# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The version, for the package's metadata too; that of pom.xml as PEP 440 writes it (tested)."""

__version__ = "0.1.0.dev0"

# The jar of this version, by the name that Maven gives it.
JAR = f"sparqr-spark-{__version__.replace('.dev0', '-SNAPSHOT')}-all.jar"
