/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.sparqr.Sampling;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.SparseRow;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Many clusters use Kryo, and some refuse unregistered classes: our registrator knows all. */
class KryoTest {

  @TempDir private static Path folder;
  private static SparkSession session;

  @BeforeAll
  static void start() {
    LocalSpark.session().stop();
    SparkConf conf =
        new SparkConf()
            .setMaster("local[2]")
            .setAppName("sparqr under Kryo")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1")
            .set("spark.sql.shuffle.partitions", "2");
    session = SparkSession.builder().config(KryoCalls.strict(conf)).getOrCreate();
  }

  @AfterAll
  static void stop() {
    session.stop();
  }

  /** They alone send some of the classes that clusters once refused. */
  private static final List<String> ALWAYS = List.of("Matrix Market", "influence", "absorbed");

  /** Results of tasks, shuffled and stored elements are serialized in one JVM, too. */
  @TestFactory
  Stream<DynamicTest> everyCall() {
    Map<String, KryoCalls.Call> all = new KryoCalls(session, folder).all();
    List<String> names = List.copyOf(all.keySet());
    return Sampling.of(names, ALWAYS.stream().mapToInt(names::indexOf).toArray())
        .map(
            name ->
                DynamicTest.dynamicTest(
                    name, () -> assertThatCode(all.get(name)::run).doesNotThrowAnyException()));
  }

  /** Which of them are sent depends on the cluster; so each has its line. */
  @Test
  void everySerializableClassIsListed() {
    Set<String> classes =
        new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("-tests.jar"))
                .withImportOption(
                    location -> !location.contains("/.fast/") || location.contains("/c/"))
                .importPackages("io.sparqr")
                .stream()
                .filter(c -> c.isAssignableTo(Serializable.class))
                .filter(c -> !c.isInterface() && !c.isAnonymousClass() && !c.isLocalClass())
                .filter(c -> !c.getModifiers().contains(JavaModifier.ABSTRACT) || c.isEnum())
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    assertThat(classes).hasSizeGreaterThan(100);
    assertThat(String.join("\n", SparqrRegistrator.names())).isEqualTo(String.join("\n", classes));
  }

  private record Pair(int one, double two) implements Serializable {}

  @Test
  void recordsErrorsAndClassesThatWriteThemselvesComeBack() {
    assertThat(SparqrRegistrator.serializesItself(Pair.class)).isTrue();
    assertThat(SparqrRegistrator.serializesItself(IllegalStateException.class)).isTrue();
    assertThat(SparqrRegistrator.serializesItself(double[][].class)).isFalse();
    SerializerInstance kryo =
        new KryoSerializer(KryoCalls.strict(new SparkConf(false))).newInstance();
    List<Object> sent = new ArrayList<>(List.of(1, "two", 3.0));
    for (Object one :
        List.of(
            sent,
            List.of(1, 2, 3),
            List.of(7),
            new DenseMatrix(1, 2, new double[] {3, 4}),
            new Dependency(3, new int[] {1}, new double[] {2}),
            new SparseRow(new int[] {4}, new double[] {5}, 6),
            new IndexOverflowException("row %d", "rows", 3),
            new double[][] {{1, 2}, {3}})) {
      var tag = scala.reflect.ClassTag$.MODULE$.<Object>apply(Object.class);
      Object back = kryo.deserialize(kryo.serialize(one, tag), tag);
      assertThat(back).usingRecursiveComparison().isEqualTo(one);
    }
  }
}
