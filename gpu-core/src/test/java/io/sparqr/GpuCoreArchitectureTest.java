/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.sparqr.backend.reference.HeathFactorizer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
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
  void onlyTheDriversPackageCallsJcuda() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.sparqr.backend.cuda.driver..")
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

  /**
   * Task lists are made from structure alone: their makers see neither values nor users of the
   * lists.
   */
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

  /** The checks use the records; records and arithmetic do not depend on the checks. */
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

  /** Places in a front are determined once, for all backends; only the backends handle values. */
  @Test
  void assemblyIsAboveTheNumericTypesAlone() {
    noClasses()
        .that()
        .resideInAPackage("io.sparqr.numeric.assembly..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.sparqr.backend..", "io.sparqr.numeric.integrity..", "io.sparqr.numeric.dense..")
        .check(CLASSES);
  }

  /** The oracle of the backends determines all places in a front by itself. */
  @Test
  void theOracleSharesNoLayoutWithTheBackends() {
    noClasses()
        .that()
        .haveSimpleName("HeathFactorizer")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.sparqr.numeric.assembly..")
        .check(new ClassFileImporter().importClasses(HeathFactorizer.class));
  }

  /** Nested classes are named after the class around them, and do not count. */
  @Test
  void noTwoClassesShareAName() {
    Map<String, List<String>> named =
        CLASSES.stream()
            .filter(c -> c.isTopLevelClass() && !c.getSimpleName().equals("package-info"))
            .collect(
                Collectors.groupingBy(
                    JavaClass::getSimpleName,
                    TreeMap::new,
                    Collectors.mapping(JavaClass::getName, Collectors.toList())));
    named.values().removeIf(names -> names.size() == 1);
    assertThat(named).isEmpty();
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.sparqr.(**)").should().beFreeOfCycles().check(CLASSES);
  }
}
