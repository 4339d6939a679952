/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.jvm.NamedObjects.Name;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NamedObjectsTest {

  private final NamedObjects objects = new NamedObjects();
  private final Name<String> name = new Name<>(String.class, 7L);

  @Test
  void anObjectIsHeldUntilItIsDropped() {
    objects.hold(name, "a");
    objects.hold(name, "b");
    assertThat(objects.find(name)).contains("b");
    assertThat(objects.held()).isEqualTo(1);
    assertThat(objects.drop(name)).contains("b");
    assertThat(objects.drop(name)).isEmpty();
    assertThat(objects.find(name)).isEmpty();
    assertThat(objects.held()).isZero();
  }

  @Test
  void typesAreToldApart() {
    objects.hold(name, "a");
    objects.hold(new Name<>(Integer.class, 7L), 3);
    assertThat(objects.find(new Name<>(Integer.class, 7L))).contains(3);
    assertThat(objects.find(name)).contains("a");
    assertThat(objects.held(Integer.class)).isEqualTo(1);
    assertThat(objects.held()).isEqualTo(2);
  }

  @Test
  void whatIsRememberedIsReadOnceAndNotHeld() {
    var reads = new AtomicInteger();
    for (int k = 0; k < 3; k++) {
      assertThat(objects.rememberedOr(name, () -> "read " + reads.incrementAndGet(), () -> true))
          .isEqualTo("read 1");
    }
    assertThat(objects.held()).isZero();
    objects.drop(name);
    assertThat(objects.rememberedOr(name, () -> "again", () -> true)).isEqualTo("again");
  }

  @Test
  void whatIsNoLongerWantedGivesWayToTheNext() {
    var wanted = new AtomicBoolean(true);
    objects.remember(name, "a", wanted::get);
    objects.remember(new Name<>(String.class, "b"), "b", wanted::get);
    assertThat(objects.find(name)).contains("a");
    wanted.set(false);
    objects.remember(new Name<>(String.class, "c"), "c");
    assertThat(objects.find(name)).isEmpty();
    assertThat(objects.find(new Name<>(String.class, "b"))).isEmpty();
    objects.remember(new Name<>(String.class, "d"), "d");
    assertThat(objects.find(new Name<>(String.class, "c"))).contains("c");
  }

  @Test
  void oneIsMadeWhereNoneIsHeld() {
    assertThat(objects.heldOr(name, () -> "a")).isEqualTo("a");
    assertThat(objects.heldOr(name, () -> "b")).isEqualTo("a");
    assertThat(objects.held()).isEqualTo(1);
  }

  @Test
  void numbersDiffer() {
    assertThat(objects.newNumber()).isNotEqualTo(objects.newNumber());
  }
}
