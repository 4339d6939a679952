/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Spark stays above this module, jcuda inside one package, symbolic code below numeric code. */
class GpuCoreArchitectureTest {

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.sparqr");

  @Test
  void knowsNothingOfSparkOrBreeze() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.spark..", "breeze..", "scala..")
        .check(CLASSES);
  }

  @Test
  void onlyTheCudaPackageSeesJcuda() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.sparqr.backend.cuda..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("jcuda..")
        .check(CLASSES);
  }

  @Test
  void theScheduleIsPlainJava() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.backend.schedule..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.sparqr.backend.cuda..", "io.sparqr.backend.cpu..", "jcuda..")
        .check(CLASSES);
  }

  /** Lists are made of structure: whoever makes them never sees a value, nor who uses them. */
  @Test
  void theScheduleSeesNoValue() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.backend.schedule..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.sparqr.numeric..", "io.sparqr.backend.staged..")
        .check(CLASSES);
  }

  @Test
  void stagesKnowNoExecutor() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.backend.staged..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.sparqr.backend.cuda..", "io.sparqr.backend.cpu..", "io.sparqr.backend.reference..")
        .check(CLASSES);
  }

  @Test
  void threadsKnowNothing() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.threads..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.sparqr.numeric..", "io.sparqr.backend..", "io.sparqr.symbolic..")
        .check(CLASSES);
  }

  @Test
  void numericTypesDoNotKnowTheBackends() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.numeric..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.sparqr.backend..")
        .allowEmptyShould(true)
        .check(CLASSES);
  }

  /** The checks are of records; records and arithmetic do not know that they are checked. */
  @Test
  void integrityIsAboveTheNumericTypes() {
    noClasses()
        .that()
        .resideInAnyPackage("io.sparqr.numeric", "io.sparqr.numeric.dense..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.sparqr.numeric.integrity..")
        .check(CLASSES);
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.numeric.integrity..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.sparqr.backend..", "io.sparqr.numeric.dense..")
        .check(CLASSES);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.sparqr.(**)").should().beFreeOfCycles().check(CLASSES);
  }
}
