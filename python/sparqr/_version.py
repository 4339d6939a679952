# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The version, also for the package's metadata: pom.xml's version in PEP 440's form (tested)."""

__version__ = "0.1.0.dev0"

# File name of this version's jar, as Maven builds it.
JAR = f"sparqr-spark-{__version__.replace('.dev0', '-SNAPSHOT')}-all.jar"
