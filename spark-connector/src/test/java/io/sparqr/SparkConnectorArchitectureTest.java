/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static com.tngtech.archunit.base.DescribedPredicate.anyElementThat;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasModifiers.Predicates.modifier;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Only this module uses Spark; it uses neither Breeze nor jcuda. */
@Tag("once")
class SparkConnectorArchitectureTest {

  private static final String ROOT = "io.sparqr.spark";

  /** In the order in which data pass through them. */
  private static final List<String> ROOMS =
      List.of(
          "rows", "pattern", "factor", "solve", "condition", "inverse", "dependence", "internal");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.sparqr");

  private static final DescribedPredicate<JavaClass> WAYS_IN = new WaysIn();

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

  /**
   * Spark deserializes the results of tasks with the application's class loader, which does not
   * know our classes if the jar is an artifact of a Spark Connect session.
   */
  @Test
  void accumulatorsAreSparksOwn() {
    noClasses().should().beAssignableTo("org.apache.spark.util.AccumulatorV2").check(CLASSES);
  }

  /**
   * The root package consists of two slices: the entry points, which use inner packages or other
   * entry points, and the values that all of them pass around (rows, solutions, reports). An inner
   * package that used an entry point would close a cycle.
   */
  @Test
  void packagesHaveNoCycles() {
    slices().assignedFrom(new SlicesOfTheConnector()).should().beFreeOfCycles().check(CLASSES);
  }

  /**
   * The way of the data: an inner package uses those before it, and never a later one or an entry
   * point.
   */
  @ParameterizedTest
  @MethodSource("rooms")
  void aRoomKnowsNoneAfterIt(String room) {
    List<String> after = ROOMS.subList(ROOMS.indexOf(room) + 1, ROOMS.size());
    noClasses()
        .that()
        .resideInAPackage(ROOT + "." + room)
        .should()
        .dependOnClassesThat(in(after).or(WAYS_IN))
        .check(CLASSES);
  }

  static List<String> rooms() {
    return ROOMS;
  }

  /** Plans, frames, resources and metrics serve the inner packages and use none of them. */
  @Test
  void whatTheRoomsStandOnDoesNotKnowThem() {
    noClasses()
        .that(in(List.of("plan", "wire", "resource", "metrics", "file")))
        .should()
        .dependOnClassesThat(in(ROOMS).or(WAYS_IN))
        .check(CLASSES);
  }

  /** A design is rows with names: it uses neither the estimator nor an entry point. */
  @Test
  void aDesignKnowsNoSolver() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".design..")
        .should()
        .dependOnClassesThat(
            in(List.of("ml", "pattern", "factor", "solve", "inverse", "internal")).or(WAYS_IN))
        .check(CLASSES);
  }

  /**
   * Inner packages may change in every version, so no public method takes or returns one of their
   * types.
   */
  @Test
  void callersMeetNoRoom() {
    methods()
        .that()
        .areDeclaredInClassesThat(
            in(List.of("ml", "design", "inference", "python")).or(resideInAPackage(ROOT)))
        .and()
        .arePublic()
        .and()
        .areDeclaredInClassesThat(modifier(JavaModifier.PUBLIC))
        .should()
        .notHaveRawReturnType(in(ROOMS))
        .andShould()
        .notHaveRawParameterTypes(anyElementThat(in(ROOMS)))
        .check(CLASSES);
    constructors()
        .that()
        .areDeclaredInClassesThat(
            in(List.of("ml", "design", "inference", "python")).or(resideInAPackage(ROOT)))
        .and()
        .arePublic()
        .should()
        .notHaveRawParameterTypes(anyElementThat(in(ROOMS)))
        .check(CLASSES);
  }

  /** The choice between CPU and GPU is made in one place; all others read it from the plan. */
  @Test
  void theVerdictOnDevicesIsAskedOnce() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(ROOT + ".internal.Pipeline")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + ".resource.DeviceRule")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName(ROOT + ".resource.DeviceRule")
        .orShould()
        .callMethodWhere(
            target(nameMatching("minimum(Intensity|Flops)"))
                .and(target(owner(name("io.sparqr.backend.QrBackendProvider")))))
        .check(CLASSES);
  }

  /** A package of ours in a line of the table's second column; ".wire" is beside the one before. */
  private static final Pattern PACKAGE = Pattern.compile("`((?:io\\.sparqr)?[.\\w]+)`");

  /** The rule of CONTRIBUTING's table: a package uses those above it, and values of the root. */
  @Test
  void packagesAreInTheOrderOfContributing() throws IOException {
    String text =
        Files.readString(Path.of(System.getProperty("basedir", "."), "..", "CONTRIBUTING.md"));
    var order = new ArrayList<String>();
    text.substring(text.indexOf("| module | package"))
        .lines()
        .takeWhile(l -> l.startsWith("|"))
        .filter(l -> !l.startsWith("| tests of") && !l.startsWith("| `examples`"))
        .map(l -> l.split("\\|")[2])
        .forEach(
            cell ->
                PACKAGE
                    .matcher(cell)
                    .results()
                    .map(m -> m.group(1))
                    .filter(p -> p.startsWith("io.") || p.startsWith("."))
                    .forEach(p -> order.add(p.startsWith(".") ? ROOT + p : p)));
    assertThat(order).hasSizeGreaterThan(30).doesNotHaveDuplicates();
    var wrong = new TreeSet<String>();
    for (JavaClass c : CLASSES) {
      int place = order.indexOf(c.getPackageName());
      if (place < 0) {
        wrong.add(c.getPackageName() + " is not in the table");
      }
      c.getDirectDependenciesFromSelf().stream()
          .map(d -> d.getTargetClass().getPackageName())
          .filter(p -> p.startsWith("io.sparqr") && !p.equals(ROOT))
          .filter(p -> order.indexOf(p) > place)
          .forEach(p -> wrong.add(c.getPackageName() + " uses " + p + ", below it"));
    }
    assertThat(wrong).isEmpty();
  }

  private static DescribedPredicate<JavaClass> in(List<String> packages) {
    return resideInAnyPackage(
        packages.stream().map(p -> ROOT + "." + p + "..").toArray(String[]::new));
  }

  /** Classes of the root package that use another package of ours, and those that use these. */
  private static final class WaysIn extends DescribedPredicate<JavaClass> {
    private final Set<String> names = new HashSet<>();

    WaysIn() {
      super("are ways in");
      int before;
      do {
        before = names.size();
        for (JavaClass c : CLASSES) {
          boolean knows =
              c.getDirectDependenciesFromSelf().stream()
                  .map(d -> d.getTargetClass())
                  .anyMatch(
                      t ->
                          t.getPackageName().startsWith(ROOT + ".")
                              || names.contains(outermost(t)));
          if (c.getPackageName().equals(ROOT) && knows) {
            names.add(outermost(c));
          }
        }
      } while (names.size() > before);
    }

    @Override
    public boolean test(JavaClass c) {
      return names.contains(outermost(c));
    }

    private static String outermost(JavaClass c) {
      return c.getEnclosingClass().map(WaysIn::outermost).orElse(c.getName());
    }
  }

  private static final class SlicesOfTheConnector implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass c) {
      if (c.getPackageName().equals(ROOT)) {
        return SliceIdentifier.of(WAYS_IN.test(c) ? "the ways in" : "the values");
      }
      return c.getPackageName().startsWith(ROOT + ".")
          ? SliceIdentifier.of(c.getPackageName().substring(ROOT.length() + 1))
          : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
      return "the connector's packages, its root in two";
    }
  }
}
