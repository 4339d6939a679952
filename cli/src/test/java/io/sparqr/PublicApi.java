/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The list of what programs may call: packages with all their public types, and single types.
 *
 * @param names as japicmp's configuration in pom.xml has them
 */
record PublicApi(Set<String> names) {

  private static final Pattern INCLUDE = Pattern.compile("<include>([a-z]\\S*)</include>");

  static PublicApi read() throws IOException {
    String pom = Files.readString(Path.of(System.getProperty("basedir", "."), "..", "pom.xml"));
    String list = pom.substring(pom.indexOf("<parameter>"), pom.indexOf("</parameter>"));
    var names = new TreeSet<String>();
    var m = INCLUDE.matcher(list);
    while (m.find()) {
      names.add(m.group(1));
    }
    return new PublicApi(names);
  }

  /** Whether a type is in the list, itself, by its package or by the type around it. */
  boolean has(JavaClass c) {
    return names.contains(c.getName())
        || names.contains(c.getPackageName())
        || c.getEnclosingClass().filter(this::has).isPresent();
  }

  /** Its public types. */
  List<JavaClass> types(JavaClasses classes) {
    return classes.stream().filter(c -> isPublic(c) && has(c)).toList();
  }

  /** Names without a type. */
  List<String> unknown(JavaClasses classes) {
    return names.stream()
        .filter(
            n ->
                classes.stream()
                    .noneMatch(
                        c ->
                            isPublic(c) && (c.getName().equals(n) || c.getPackageName().equals(n))))
        .toList();
  }

  /** Members that callers see, and types of ours in them that are not in the list. */
  List<String> leaks(JavaClasses classes) {
    var leaks = new ArrayList<String>();
    for (JavaClass c : types(classes)) {
      for (JavaMember m : c.getMembers()) {
        Set<JavaModifier> is = m.getModifiers();
        boolean seen = is.contains(JavaModifier.PUBLIC) || is.contains(JavaModifier.PROTECTED);
        if (seen && !is.contains(JavaModifier.SYNTHETIC)) {
          involved(m).stream()
              .map(JavaClass::getBaseComponentType)
              .filter(t -> t.getName().startsWith("io.sparqr") && !has(t))
              .forEach(t -> leaks.add(m.getFullName() + ": " + t.getName()));
        }
      }
    }
    return leaks;
  }

  private static List<JavaClass> involved(JavaMember m) {
    var types = new ArrayList<JavaType>();
    if (m instanceof JavaCodeUnit u) {
      types.add(u.getReturnType());
      types.addAll(u.getParameterTypes());
    } else if (m instanceof JavaField f) {
      types.add(f.getType());
    }
    return types.stream().flatMap(t -> t.getAllInvolvedRawTypes().stream()).toList();
  }

  private static boolean isPublic(JavaClass c) {
    return c.getModifiers().contains(JavaModifier.PUBLIC)
        && c.getEnclosingClass().map(PublicApi::isPublic).orElse(true);
  }
}
