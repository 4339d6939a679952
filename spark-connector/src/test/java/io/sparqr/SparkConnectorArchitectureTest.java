/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Spark is known here and only here; Breeze and jcuda nowhere. */
class SparkConnectorArchitectureTest {

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.sparqr");

  @Test
  void nobodyImportsBreeze() {
    noClasses().should().dependOnClassesThat().resideInAPackage("breeze..").check(CLASSES);
  }

  @Test
  void sparkIsKnownOnlyToTheConnector() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.sparqr.spark..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.spark..")
        .check(CLASSES);
  }

  @Test
  void theConnectorDoesNotTouchCuda() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.spark..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("jcuda..", "io.sparqr.backend.cuda..")
        .check(CLASSES);
  }

  @Test
  void theCommandLineIsOnTop() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.spark..")
        .and()
        .resideOutsideOfPackage("io.sparqr.spark.cli..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.sparqr.spark.cli..")
        .check(CLASSES);
  }

  @Test
  void packagesHaveNoCycles() {
    slices()
        .matching("io.sparqr.spark.(*)..")
        .should()
        .beFreeOfCycles()
        .allowEmptyShould(true)
        .check(CLASSES);
  }
}
