/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rooms of the house and their walls: see the table of packages in CONTRIBUTING. */
@Tag("once")
class HouseArchitectureTest {

  private static final String ROOT = "io.sparqr.spark";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.sparqr", "sparqr.ml");

  @Test
  void nobodyImportsBreeze() {
    noClasses().should().dependOnClassesThat().resideInAPackage("breeze..").check(CLASSES);
  }

  @Test
  void sparkIsKnownOnlyFromTheConnectorOn() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.sparqr.spark..", "sparqr.ml..")
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

  /**
   * What may change in any version of Spark: its sources declare it {@code private[spark]} or say
   * that it is not for use outside.
   */
  private static final String[] PRIVATE_PACKAGES = {
    "org.apache.spark.executor..",
    "org.apache.spark.internal..",
    "org.apache.spark.memory..",
    "org.apache.spark.network..",
    "org.apache.spark.rpc..",
    "org.apache.spark.shuffle..",
    "org.apache.spark.sql.catalyst..",
    "org.apache.spark.sql.classic..",
    "org.apache.spark.sql.execution..",
    "org.apache.spark.sql.internal..",
    "org.apache.spark.status..",
    "org.apache.spark.util.collection.."
  };

  /** Those beside the classes that they may call: listeners' and the registrator's interface. */
  private static final String PRIVATE_CLASSES =
      "org\\.apache\\.spark\\.(SparkEnv|MapOutputTracker.*|SecurityManager|Heartbeat.*|TaskContextImpl"
          + "|(SparkContext|TaskContext|SparkEnv)\\$"
          + "|rdd\\.InputFileBlockHolder.*"
          + "|scheduler\\.(?!SparkListener|AccumulableInfo|StageInfo|TaskInfo|JobResult).*"
          + "|serializer\\.(?!KryoRegistrator$).*"
          + "|storage\\.(?!StorageLevel|RDDInfo).*"
          + "|util\\.(KnownSizeEstimation|SizeEstimator.*|Utils.*|ThreadUtils.*|ClosureCleaner.*))";

  /** Methods that Scala's callers outside of Spark cannot see, and Java's can. */
  private static final String PRIVATE_METHODS =
      "(env|statusStore|listenerBus|taskScheduler|schedulerBackend|dagScheduler|cleaner|ui"
          + "|eventLogger|heartbeatReceiver|executorAllocationManager|sessionState|sharedState"
          + "|queryExecution|logicalPlan)";

  /**
   * One room knows Spark's private parts, and a test of its own calls each of its methods on every
   * version of Spark. {@code UTF8String}, the text of a table's row, is a plain value.
   */
  @Test
  void oneRoomKnowsTheInsideOfSpark() {
    var others = noClasses().that().resideOutsideOfPackage(ROOT + ".internals");
    others
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(PRIVATE_PACKAGES)
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching(PRIVATE_CLASSES)
        .orShould()
        .callMethodWhere(
            target(nameMatching(PRIVATE_METHODS))
                .and(target(owner(nameMatching("org\\.apache\\.spark\\..*")))))
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
   * Java 17 counts the place of a part in bytes in an int: comparing parts of arrays of more than
   * 2^31 bytes ends the JVM. {@link io.sparqr.sparse.IndexRanges} does not.
   */
  @Test
  void partsOfLongArraysAreNotComparedByJava() {
    noClasses()
        .should()
        .callMethodWhere(
            target(owner(name("java.util.Arrays")))
                .and(target(nameMatching("equals|compare|mismatch")))
                .and(
                    describe(
                        "parts of arrays whose elements have several bytes",
                        call ->
                            call.getTarget().getRawParameterTypes().size() >= 6
                                && !call.getTarget()
                                    .getRawParameterTypes()
                                    .get(0)
                                    .isEquivalentTo(byte[].class))))
        .check(CLASSES);
  }

  /** Spark logs under an RDD's class that it is released, so that ours must be silent. */
  @Test
  void rddsAreQuiet() {
    classes()
        .that()
        .areAssignableTo("org.apache.spark.rdd.RDD")
        .should()
        .beAssignableTo(ROOT + ".internals.QuietRdd")
        .check(CLASSES);
  }

  /** A package of ours that another uses does not use that one in turn, by whatever way. */
  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.sparqr.(**)").should().beFreeOfCycles().check(CLASSES);
  }

  /**
   * What changes in a JVM as a whole has one owner, so that it can be closed and looked at: {@link
   * io.sparqr.jvm.JvmState}. Others have a key to their part of it.
   */
  @Test
  void stateOfTheJvmHasOneOwner() {
    assertThat(StaticState.of(CLASSES)).containsExactly("io.sparqr.jvm.JvmState.current");
  }

  /** More classes than this that all need each other are one class in pieces. */
  private static final int MOST_IN_A_CIRCLE = 4;

  @Test
  void classesOfAPackageFormNoLargeCircle() {
    var found = new TreeSet<String>();
    for (Set<String> circle : new ClassCircles(CLASSES).all()) {
      if (circle.size() > MOST_IN_A_CIRCLE) {
        found.add(circle.toString());
      }
    }
    assertThat(found).isEmpty();
  }

  /** Of more arguments in a row, two of one type are soon exchanged. */
  private static final int MOST_COMPONENTS = 9;

  /**
   * What belongs together in a long record is a record of its own. The report of a solve is groups
   * already, and what else it has is what programs ask it for by name.
   */
  @Test
  void recordsAreGroupedRatherThanLong() {
    var found = new TreeMap<String, Integer>();
    for (JavaClass c : CLASSES) {
      int components = c.isRecord() ? components(c) : 0;
      if (components > MOST_COMPONENTS) {
        found.put(c.getName(), components);
      }
    }
    assertThat(found).containsOnlyKeys(ROOT + ".report.SolveReport");
  }

  private static int components(JavaClass record) {
    return (int)
        record.getFields().stream()
            .filter(f -> !f.getModifiers().contains(JavaModifier.STATIC))
            .count();
  }

  /**
   * Passes are written once, for a cluster, for Spark in one JVM and for this JVM alone: only rooms
   * that decide how something travels ask which it is. There were 46 such questions once.
   */
  @Test
  void fewAskWhereTasksRun() {
    Map<String, Integer> found = new TreeMap<>();
    for (JavaClass c : CLASSES) {
      Set<JavaCodeUnitAccess<?>> calls = new HashSet<>(c.getMethodCallsFromSelf());
      calls.addAll(c.getMethodReferencesFromSelf());
      for (JavaCodeUnitAccess<?> call : calls) {
        if (asksWhereTasksRun(call)) {
          found.merge(c.getPackageName(), 1, Integer::sum);
        }
      }
    }
    assertThat(found.toString())
        .isEqualTo("{%1$s.cluster=1, %1$s.device=2, %1$s.exchange=3, %1$s.parts=1}", ROOT);
  }

  private static boolean asksWhereTasksRun(JavaCodeUnitAccess<?> call) {
    String owner = call.getTargetOwner().getName();
    String method = call.getTarget().getName();
    boolean engine =
        owner.equals(ROOT + ".engine.Engine")
            && !call.getOriginOwner().getName().equals(owner)
            && Set.of("oneJvm", "sharesObjects", "reach").contains(method);
    return engine || owner.startsWith("org.apache.spark.") && method.equals("isLocal");
  }

  /** A module of the connector or above has at most this many packages. */
  @Test
  void noModuleHasTooManyRooms() throws IOException {
    assertThat(Rooms.read().perModule())
        .isNotEmpty()
        .allSatisfy((module, n) -> assertThat(n).as(module).isLessThanOrEqualTo(30));
  }

  /** The way of the data: a package uses those above it in CONTRIBUTING's table, and no other. */
  @ParameterizedTest
  @MethodSource("rooms")
  void aRoomKnowsNoneAfterIt(String room) throws IOException {
    List<String> order = Rooms.read().order();
    List<String> after = order.subList(order.indexOf(room) + 1, order.size());
    // Python's names need each other
    String[] later =
        after.stream()
            .filter(p -> !(room.equals("sparqr.ml") && p.equals(ROOT + ".ml")))
            .toArray(String[]::new);
    if (later.length > 0) {
      noClasses()
          .that()
          .resideInAPackage(room)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(later)
          .check(CLASSES);
    }
  }

  static List<String> rooms() throws IOException {
    return Rooms.read().order();
  }

  @Test
  void everyPackageIsInTheTable() throws IOException {
    List<String> order = Rooms.read().order();
    assertThat(order).hasSizeGreaterThan(50).doesNotHaveDuplicates();
    var there = new TreeSet<String>();
    CLASSES.forEach(c -> there.add(c.getPackageName()));
    assertThat(there).containsExactlyInAnyOrderElementsOf(order);
  }

  /**
   * What is public API is one list, that of japicmp in pom.xml: no public method of a type in it
   * takes or returns a type of ours that is not.
   */
  @Test
  void theApiSpeaksOfNothingElse() throws IOException {
    var api = PublicApi.read();
    assertThat(api.types(CLASSES)).hasSizeGreaterThan(80);
    assertThat(api.unknown(CLASSES)).as("listed, but not there").isEmpty();
    assertThat(api.leaks(CLASSES)).isEmpty();
  }

  /** The choice between CPU and GPU is made in one place; all others read it from the plan. */
  @Test
  void theVerdictOnDevicesIsAskedOnce() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(ROOT + ".pipeline.Pipeline")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + ".device.DeviceRule")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName(ROOT + ".device.DeviceRule")
        .orShould()
        .callMethodWhere(
            target(nameMatching("minimum(Intensity|Flops)"))
                .and(target(owner(name("io.sparqr.backend.QrBackendProvider")))))
        .check(CLASSES);
  }
}
