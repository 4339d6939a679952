/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Dependencies of this module go one way, and none of them leads to Spark, CUDA or Breeze. */
class PartitioningArchitectureTest {

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.sparqr");

  @Test
  void knowsNothingOfSparkCudaOrBreeze() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.apache.spark..",
            "jcuda..",
            "breeze..",
            "scala..",
            "org.bytedeco..",
            "dev.ludovic..")
        .check(CLASSES);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.sparqr.(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void packagesFollowTheWayOfTheData() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .withOptionalLayers(true)
        .layer("error")
        .definedBy("io.sparqr.error..")
        .layer("sparse")
        .definedBy("io.sparqr.sparse..")
        .layer("matrix")
        .definedBy("io.sparqr.matrix..")
        .layer("ordering")
        .definedBy("io.sparqr.ordering..")
        .layer("symbolic")
        .definedBy("io.sparqr.symbolic..")
        .layer("partition")
        .definedBy("io.sparqr.partition..")
        .whereLayer("partition")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("matrix")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("symbolic")
        .mayOnlyBeAccessedByLayers("partition")
        .whereLayer("ordering")
        .mayOnlyBeAccessedByLayers("symbolic", "partition")
        .check(CLASSES);
  }
}
