/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.sparqr.jvm.JvmPart;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@link StaticState} finds what it is to find, and nothing else. */
@Tag("once")
class StaticStateTest {

  @SuppressWarnings("unused")
  private static final class Planted {
    static int counter;
    static final AtomicLong NUMBER = new AtomicLong();
    static final Map<String, String> REGISTRY = new TreeMap<>();
    static final List<String> LIST = new ArrayList<>();
    static final SoftReference<String> CACHE = new SoftReference<>("");
    static final ThreadLocal<String> OF_THREAD = new ThreadLocal<>();
    static final Object LOCK = new Object();
    static final Inner BEHIND_A_FIELD = new Inner(List.of(new AtomicLong()));
    static final Variable VARIABLE = new Variable();

    static final Set<String> CONSTANTS = Set.of("a");
    static final Map<String, Inner> TABLE = Map.of("a", new Inner(List.of("b")));
    static final int[] NUMBERS = {1, 2};
    static final String TEXT = "a";
    static final JvmPart<AtomicLong> KEY = JvmPart.of("numbers", AtomicLong::new);
  }

  private record Inner(List<?> values) {}

  private static final class Variable {
    @SuppressWarnings("unused")
    private int value;
  }

  @Test
  void findsVariablesAndNoConstants() {
    String name = Planted.class.getName() + ".";
    assertThat(StaticState.of(new ClassFileImporter().importClasses(Planted.class)))
        .containsExactlyInAnyOrder(
            name + "counter",
            name + "NUMBER",
            name + "REGISTRY",
            name + "LIST",
            name + "CACHE",
            name + "OF_THREAD",
            name + "LOCK",
            name + "BEHIND_A_FIELD",
            name + "VARIABLE");
  }
}
