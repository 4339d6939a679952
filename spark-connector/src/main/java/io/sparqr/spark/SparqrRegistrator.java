/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.serializer.KryoRegistrator;

/**
 * Registers with Kryo what Sparqr sends, for clusters that refuse classes that are not registered:
 *
 * <pre>{@code
 * spark.serializer=org.apache.spark.serializer.KryoSerializer
 * spark.kryo.registrationRequired=true
 * spark.kryo.registrator=io.sparqr.spark.SparqrRegistrator
 * }</pre>
 *
 * Several registrators are separated by commas. Each module names its classes in a resource {@value
 * #RESOURCE}; in every JVM of an application they are registered in the same order, that of their
 * names. Records, errors and classes that serialize themselves keep Java's way, since Kryo 4 reads
 * no records and skips what such classes write.
 */
public final class SparqrRegistrator implements KryoRegistrator {

  static final String RESOURCE = "META-INF/sparqr/kryo";

  /** Methods by which a class takes part in its serialization. */
  private static final Set<String> HOOKS =
      Set.of("writeObject", "readObject", "writeReplace", "readResolve", "writeExternal");

  /** Of the JDK and of Spark, in results and in elements of RDDs. */
  private static final List<String> OTHERS =
      List.of(
          "[B",
          "[D",
          "[I",
          "[J",
          "[Z",
          "[[B",
          "[[D",
          "[[I",
          "[[J",
          "[[[D",
          "[Ljava.lang.Object;",
          "[Ljava.lang.String;",
          "[Lscala.Tuple2;",
          "java.util.ArrayList",
          "java.util.Arrays$ArrayList",
          "java.util.BitSet",
          "java.util.HashMap",
          "java.util.HashSet",
          "java.util.LinkedHashMap",
          "java.util.TreeMap",
          "java.util.ImmutableCollections$List12",
          "java.util.ImmutableCollections$ListN",
          "java.util.ImmutableCollections$Map1",
          "java.util.ImmutableCollections$MapN",
          "org.apache.spark.ml.linalg.MatrixUDT",
          "org.apache.spark.ml.linalg.VectorUDT");

  /** Spark makes one in each JVM, by this constructor. */
  public SparqrRegistrator() {}

  /**
   * Registers the classes.
   *
   * @throws UncheckedIOException if a list of classes in a jar cannot be read
   * @throws IllegalStateException if a listed class is missing, as with jars of different versions
   */
  @Override
  public void registerClasses(Kryo kryo) {
    OTHERS.forEach(name -> register(kryo, classOf(name)));
    for (String name : names()) {
      Class<?> type = classOf(name);
      register(kryo, type);
      register(kryo, type.arrayType()); // the elements of a partition, where their type is known
    }
  }

  /** The classes of all modules on the class path, in the order of their names. */
  static Set<String> names() {
    Set<String> names = new TreeSet<>();
    try {
      for (URL list : Collections.list(loader().getResources(RESOURCE))) {
        try (var lines =
            new BufferedReader(new InputStreamReader(list.openStream(), StandardCharsets.UTF_8))) {
          lines.lines().filter(line -> !line.isBlank()).forEach(names::add);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the lists of classes for Kryo cannot be read", e);
    }
    return names;
  }

  private static void register(Kryo kryo, Class<?> type) {
    if (kryo.getClassResolver().getRegistration(type) != null) {
      return;
    }
    if (serializesItself(type)) {
      kryo.register(type, new JavaSerializer());
    } else {
      kryo.register(type);
    }
  }

  /** Whether Kryo's way by fields would lose something of the objects of a class. */
  static boolean serializesItself(Class<?> type) {
    if (type.isArray() || type.isEnum()) {
      return false;
    }
    if (type.isRecord() || Throwable.class.isAssignableFrom(type)) {
      return true;
    }
    if (Collection.class.isAssignableFrom(type) && !type.getName().contains("Immutable")) {
      return false; // Kryo has serializers for them, by their elements
    }
    for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
      if (Arrays.stream(c.getDeclaredMethods()).map(Method::getName).anyMatch(HOOKS::contains)
          || Arrays.stream(c.getDeclaredFields())
              .map(Field::getModifiers)
              .anyMatch(m -> Modifier.isTransient(m) && !Modifier.isStatic(m))) {
        return true;
      }
    }
    return false;
  }

  private static Class<?> classOf(String name) {
    try {
      return Class.forName(name, false, loader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(
          "the jar lists " + name + " for Kryo, but it is missing: are there jars of two versions?",
          e);
    }
  }

  private static ClassLoader loader() {
    return SparqrRegistrator.class.getClassLoader();
  }
}
