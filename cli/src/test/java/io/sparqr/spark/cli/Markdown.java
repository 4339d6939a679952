/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the documents.
 *
 * @param file from the repository's root
 * @param text without what is in fences
 * @param fences language and content
 */
record Markdown(Path file, String text, List<Fence> fences) {

  static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..").normalize();

  private static final Pattern LINK = Pattern.compile("\\]\\(([^()\\s]+)\\)");
  private static final Pattern CODE = Pattern.compile("(?<!`)`([^`\n]+)`(?!`)");

  /** Folders with pages of ours. */
  private static final List<String> FOLDERS =
      List.of("docs", "benchmarks", "python", "examples", "notebooks");

  record Fence(String language, String content) {

    /** Commands, lines that end in a backslash joined; comments left out. */
    List<String> commands() {
      return content
          .replace("\\\n", " ")
          .lines()
          .map(String::strip)
          .filter(l -> !l.isEmpty() && !l.startsWith("#"))
          .toList();
    }
  }

  /** All pages. */
  static List<Markdown> all() throws IOException {
    var files = new ArrayList<Path>();
    try (Stream<Path> top = Files.list(ROOT)) {
      top.filter(f -> f.toString().endsWith(".md")).forEach(files::add);
    }
    for (String folder : FOLDERS) {
      try (Stream<Path> below = Files.walk(ROOT.resolve(folder))) {
        below
            .filter(f -> f.toString().endsWith(".md") && !Files.isSymbolicLink(f))
            .filter(f -> Stream.of("target", "build", "node_modules").noneMatch(n -> has(f, n)))
            .forEach(files::add);
      }
    }
    var pages = new ArrayList<Markdown>();
    for (Path file : files.stream().sorted().toList()) {
      pages.add(of(file));
    }
    return pages;
  }

  private static boolean has(Path file, String name) {
    for (Path part : ROOT.relativize(file)) {
      if (part.toString().equals(name)) {
        return true;
      }
    }
    return false;
  }

  static Markdown of(Path file) throws IOException {
    var text = new StringBuilder();
    var fences = new ArrayList<Fence>();
    StringBuilder content = null;
    String language = "";
    for (String line : Files.readAllLines(file)) {
      boolean fence = line.strip().startsWith("```");
      if (fence && content == null) {
        language = line.strip().substring(3).strip();
        content = new StringBuilder();
      } else if (fence) {
        fences.add(new Fence(language, content.toString()));
        content = null;
      } else {
        (content == null ? text : content).append(line).append('\n');
      }
    }
    if (content != null) {
      throw new AssertionError(file + ": a fence that does not end");
    }
    return new Markdown(ROOT.relativize(file), text.toString(), fences);
  }

  /** Targets of links, as written. */
  List<String> links() {
    return groups(LINK, CODE.matcher(text).replaceAll("code"));
  }

  /** Code within lines. */
  List<String> code() {
    return groups(CODE, text);
  }

  private static List<String> groups(Pattern pattern, String in) {
    Matcher m = pattern.matcher(in);
    var found = new ArrayList<String>();
    while (m.find()) {
      found.add(m.group(1));
    }
    return found;
  }

  /** Anchors of the headings, as GitHub makes them. */
  Set<String> anchors() {
    var anchors = new HashSet<String>();
    Map<String, Integer> seen = new HashMap<>();
    for (String line : text.lines().filter(l -> l.matches("#{1,6} .*")).toList()) {
      String title = line.replaceFirst("#+ ", "").replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1");
      String anchor =
          title.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
      int count = seen.merge(anchor, 1, Integer::sum);
      anchors.add(count == 1 ? anchor : anchor + "-" + (count - 1));
    }
    return anchors;
  }
}
