/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds numbers such as 1e-12 where a test says how much it accepts: in the assertions themselves,
 * in variables of the file that assertions use, and in arguments of its methods that do.
 */
final class BareTolerances {

  /** Calls whose arguments, from the one with that index on, are a tolerance or a bound. */
  private static final Map<String, Integer> ASSERTIONS =
      Map.ofEntries(
          Map.entry("within", 0),
          Map.entry("offset", 0),
          Map.entry("withinPercentage", 0),
          Map.entry("usingComparatorWithPrecision", 0),
          Map.entry("isLessThan", 0),
          Map.entry("isLessThanOrEqualTo", 0),
          Map.entry("isGreaterThanOrEqualTo", 0),
          Map.entry("isBetween", 0),
          Map.entry("allMatch", 0),
          Map.entry("anyMatch", 0),
          Map.entry("noneMatch", 0),
          Map.entry("assertEquals", 2),
          Map.entry("requireClose", 2),
          Map.entry("require", 1));

  private static final Pattern LITERAL =
      Pattern.compile("(?<![\\w.])(\\d[\\d_]*(\\.\\d*)?|\\.\\d+)[eE]-\\d+|(?<![\\w.])0?\\.000\\d+");

  /** What is to be left out: comments, texts, characters. */
  private static final Pattern NO_CODE =
      Pattern.compile(
          "/\\*.*?\\*/|//[^\n]*|\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)+'",
          Pattern.DOTALL);

  /** Sizes in a call of Tolerances, and arguments of constructors. */
  private static final Pattern GIVEN =
      Pattern.compile("\\b(?:Tolerances\\.\\w+|new \\w+)\\((?:[^()]|\\([^()]*\\))*\\)");

  /** The right side of a comparison, which the formatter sets between blanks. */
  private static final Pattern COMPARED = Pattern.compile("\\s[<>]=?\\s([^&|?;]*)");

  private static final Pattern CALL =
      Pattern.compile("(?<![\\w.])(?:\\w+\\.)*(\\w+)\\(|\\.(\\w+)\\(");
  private static final Pattern NAME = Pattern.compile("(?<![\\w.])[A-Za-z_]\\w*(?![\\w(.])");
  private static final Pattern VARIABLE = Pattern.compile("\\bdouble (\\w+) =([^;]*);");
  private static final Pattern METHOD =
      Pattern.compile("[\\w>\\]] (\\w+)\\(([^()]*)\\)\\s*(?:throws [\\w., ]+)?\\{");

  private final String code;
  private final Map<Integer, String> found = new TreeMap<>();

  private BareTolerances(String source) {
    Matcher m = NO_CODE.matcher(source);
    code = m.replaceAll(r -> Matcher.quoteReplacement(r.group().replaceAll("[^\n]", " ")));
  }

  /** The lines, numbers from 1, and what is bare in each. */
  static Map<Integer, String> of(String source) {
    var all = new BareTolerances(source);
    all.search();
    return all.found;
  }

  private void search() {
    Set<String> names = new LinkedHashSet<>();
    CALL.matcher(code)
        .results()
        .filter(r -> ASSERTIONS.containsKey(name(r)))
        .forEach(r -> names.addAll(arguments(r, ASSERTIONS.get(name(r)))));
    CALL.matcher(code)
        .results()
        .filter(r -> name(r).equals("assertThat"))
        .forEach(this::comparisons);
    VARIABLE
        .matcher(code)
        .results()
        .filter(r -> names.contains(r.group(1)))
        .forEach(r -> look(r.start(2), r.group(2)));
    for (MatchResult method : METHOD.matcher(code).results().toList()) {
      String[] parameters = method.group(2).strip().split("\\s*,\\s*");
      for (int k = 0; k < parameters.length; k++) {
        String[] words = parameters[k].split("\\s+");
        if (words[0].equals("double") && names.contains(words[words.length - 1])) {
          int at = k;
          CALL.matcher(code)
              .results()
              .filter(r -> name(r).equals(method.group(1)) && r.end() != method.start(2))
              .forEach(r -> argument(r, at));
        }
      }
    }
  }

  private static String name(MatchResult call) {
    return call.group(1) == null ? call.group(2) : call.group(1);
  }

  /** Looks at the arguments from one on; gives the names in them. */
  private List<String> arguments(MatchResult call, int from) {
    var names = new ArrayList<String>();
    int[] starts = starts(call.end());
    for (int k = from; k + 1 < starts.length; k++) {
      String text = code.substring(starts[k], starts[k + 1] - 1);
      look(starts[k], text);
      NAME.matcher(text).results().forEach(r -> names.add(r.group()));
    }
    return names;
  }

  private void comparisons(MatchResult call) {
    int[] starts = starts(call.end());
    String text = code.substring(starts[0], starts[starts.length - 1] - 1);
    COMPARED.matcher(text).results().forEach(r -> look(starts[0] + r.start(1), r.group(1)));
  }

  private void argument(MatchResult call, int k) {
    int[] starts = starts(call.end());
    if (k + 1 < starts.length) {
      look(starts[k], code.substring(starts[k], starts[k + 1] - 1));
    }
  }

  /** Where the arguments begin, and one place behind the last one's end. */
  private int[] starts(int open) {
    var all = new ArrayList<Integer>(List.of(open));
    int depth = 0;
    int at = open;
    for (; depth >= 0 && at < code.length(); at++) {
      char c = code.charAt(at);
      depth += "([{".indexOf(c) >= 0 ? 1 : ")]}".indexOf(c) >= 0 ? -1 : 0;
      if (depth == 0 && c == ',') {
        all.add(at + 1);
      }
    }
    all.add(at);
    return all.stream().mapToInt(i -> i).toArray();
  }

  private void look(int start, String text) {
    LITERAL
        .matcher(GIVEN.matcher(text).replaceAll(r -> " ".repeat(r.group().length())))
        .results()
        .forEach(
            r -> {
              int end = start + r.start();
              int line = 1 + (int) code.substring(0, end).chars().filter(c -> c == '\n').count();
              found.merge(line, r.group(), (a, b) -> a.contains(b) ? a : a + ", " + b);
            });
  }
}
