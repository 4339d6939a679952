/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Scala's class tags, which Java has to make by hand. */
public final class ClassTags {

  private ClassTags() {}

  /** The tag that Spark's interface for Java uses for every class. */
  @SuppressWarnings("unchecked")
  public static <V> ClassTag<V> any() {
    return (ClassTag<V>) ClassTag$.MODULE$.apply(Object.class);
  }
}
