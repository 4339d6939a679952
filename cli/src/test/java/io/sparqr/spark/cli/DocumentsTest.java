/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Every link in the documents leads to a page, and every command in them is valid. */
@Tag("once")
class DocumentsTest {

  /** Lines of a text that are seen without scrolling. */
  private static final int FIRST_SCREEN = 40;

  private static final Path ROOT = Markdown.ROOT;

  private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)");

  /** Code that is a file of the repository, with or without arguments. */
  private static final Pattern FILE =
      Pattern.compile(
          "(?:\\.ci|bin|docs|python|benchmarks|examples|notebooks|gpu-core|spark-connector"
              + "|partitioning|regression|cli|distribution|config)/[\\w./-]+");

  private static final Set<String> PHASES =
      Set.of("clean", "compile", "test-compile", "test", "package", "verify", "install", "deploy");

  private static final Set<String> GOALS = Set.of("spotless:apply", "exec:exec");

  /** Words of spark-submit and spark-shell that take a value. */
  private static final Set<String> SUBMIT =
      Set.of(
          "--master",
          "--deploy-mode",
          "--class",
          "--conf",
          "--jars",
          "--packages",
          "--driver-memory");

  /** Commands of other projects: we do not test that they exist. */
  private static final Set<String> OTHERS =
      Set.of("git", "cd", "pip", "python", "docker", "kubectl", "nvidia-smi", "curl", "export");

  private static final List<String> MODULES =
      List.of("partitioning", "gpu-core", "spark-connector", "regression", "cli");

  private static List<Markdown> pages;

  @BeforeAll
  static void read() throws IOException {
    pages = Markdown.all();
    assertThat(pages).hasSizeGreaterThan(40);
  }

  /** All pages except the logs, which stay as they were written. */
  private static Stream<Markdown> current() {
    return pages.stream()
        .filter(
            p -> !p.file().startsWith("benchmarks/history") && !p.file().endsWith("CHANGELOG.md"));
  }

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    var wrong = new TreeSet<String>();
    int count = 0;
    for (Markdown page : pages) {
      for (String link : page.links()) {
        if (link.matches("[a-z]+:.*") || page.file().startsWith("docs/site")) {
          continue; // the site's own pages are checked when it is made
        }
        count++;
        String[] parts = link.split("#", 2);
        Path target =
            parts[0].isEmpty()
                ? ROOT.resolve(page.file())
                : ROOT.resolve(page.file()).resolveSibling(parts[0]).normalize();
        if (!Files.exists(target)) {
          wrong.add(page.file() + ": " + link);
        } else if (parts.length == 2
            && target.toString().endsWith(".md")
            && !Markdown.of(target).anchors().contains(parts[1])) {
          wrong.add(page.file() + ": " + link + ": no such heading");
        }
      }
    }
    assertThat(count).isGreaterThan(200);
    assertThat(wrong).isEmpty();
  }

  @Test
  void everyPageIsLinkedFromAnother() throws IOException {
    var linked = new TreeSet<String>();
    for (Markdown page : pages) {
      for (String link : page.links()) {
        if (!link.matches("[a-z]+:.*")) {
          Path target = ROOT.resolve(page.file()).resolveSibling(link.split("#", 2)[0]).normalize();
          if (Files.exists(target)) {
            linked.add(ROOT.relativize(target).toString());
          }
        }
      }
    }
    assertThat(current().map(p -> p.file().toString()).filter(f -> !f.startsWith("docs/site")))
        .allMatch(f -> linked.contains(f) || f.equals("README.md"));
  }

  @Test
  void everyFileInCodeIsThere() {
    var wrong = new TreeSet<String>();
    current()
        .forEach(
            page -> {
              for (String text : page.code()) {
                String code = text.replaceFirst(" .*", "");
                if (FILE.matcher(code).matches()
                    && !code.contains("/target")
                    && !Files.exists(ROOT.resolve(code))) {
                  wrong.add(page.file() + ": " + code);
                }
              }
            });
    assertThat(wrong).isEmpty();
  }

  @Test
  void everyCommandIsOne() {
    var wrong = new TreeSet<String>();
    int[] count = new int[1];
    current()
        .forEach(
            page -> {
              var commands = new ArrayList<String>();
              page.fences().stream()
                  .filter(f -> f.language().equals("bash"))
                  .forEach(f -> commands.addAll(f.commands()));
              page.code().stream()
                  .filter(
                      c ->
                          c.matches(
                              "((bin/)?sparqr (solve|regress|qr|analyze|generate|example)|\\./mvnw) .*"))
                  .filter(c -> !c.contains("COMMAND"))
                  .forEach(commands::add);
              for (String command : commands) {
                count[0]++;
                String error = error(command);
                if (!error.isEmpty()) {
                  wrong.add(page.file() + ": " + command + ": " + error);
                }
              }
            });
    assertThat(wrong).isEmpty();
    assertThat(count[0]).isGreaterThan(60);
  }

  @Test
  void theFirstScreenOfTheReadmeRunsTheMainJobAndTheTestsThatTheGateRuns() throws IOException {
    List<String> lines = Files.readAllLines(ROOT.resolve("README.md"));
    String screen = String.join("\n", lines.subList(0, FIRST_SCREEN));
    assertThat(screen).contains("bin/sparqr solve");
    List<String> tests =
        Pattern.compile("\\./mvnw\\b[^`\n]*")
            .matcher(screen)
            .results()
            .map(m -> m.group().strip())
            .distinct()
            .toList();
    assertThat(tests).as("commands that run the tests").hasSize(1);
    assertThat(Files.readAllLines(ROOT.resolve(".ci/run")))
        .as("the gate runs %s", tests)
        .anyMatch(line -> line.equals(tests.get(0)) || line.startsWith(tests.get(0) + " "));
    assertThat(lines).as("a page").hasSizeLessThanOrEqualTo(150);
  }

  /** Tables are exempt, and so is code. */
  @Test
  void noLineOfProseIsLongerThan160() {
    var wrong = new TreeSet<String>();
    current()
        .forEach(
            page ->
                page.text()
                    .lines()
                    .filter(l -> l.length() > 160 && !l.strip().startsWith("|"))
                    .forEach(l -> wrong.add(page.file() + ": " + l.substring(0, 80) + "...")));
    assertThat(wrong).isEmpty();
  }

  @Test
  void theReadmeBeginsWithTheTwoCommandsThatDoAll() throws IOException {
    List<String> commands = Markdown.of(ROOT.resolve("README.md")).fences().get(0).commands();
    assertThat(commands).hasSize(2);
    assertThat(commands.get(0)).startsWith("bin/sparqr solve");
    assertThat(commands.get(1)).isEqualTo("./mvnw verify");
    assertThat(Files.readAllLines(ROOT.resolve("README.md")).indexOf("./mvnw verify"))
        .as("on the first screen")
        .isBetween(0, 30);
  }

  /**
   * README's table of speed has one measurement a row. Its times are numbers of RESULTS.md, from a
   * line about the same problem or rival, and its factors are their ratios.
   */
  @Test
  void everyTimeOfTheReadmeIsAResult() throws IOException {
    String readme = Files.readString(ROOT.resolve("README.md"));
    int start = readme.indexOf("## Speed");
    String section = readme.substring(start, readme.indexOf("\n## ", start + 1));
    List<String> rows = section.lines().filter(l -> l.startsWith("|")).skip(2).toList();
    assertThat(rows).hasSizeBetween(4, 5);
    for (String row : rows) {
      String[] cells = row.split("\\|");
      double ours = Double.parseDouble(cells[2].strip());
      String rival = cells[3].strip();
      String least = rival.substring(rival.lastIndexOf(' ') + 1);
      String factor = cells[4].strip();
      var names = new ArrayList<String>();
      Pattern.compile("^(?:ch|nug|grad|cells|onehot)\\d[\\w-]*")
          .matcher(cells[1].strip())
          .results()
          .forEach(m -> names.add(m.group()));
      names.add(rival.replaceAll("\\W.*", ""));
      List<Double> known = resultsOf(names.get(0));
      assertThat(known).as(row).contains(ours, Double.valueOf(least));
      double half =
          Tolerances.decimals(factor.contains(".") ? places(factor) : 0) + Tolerances.REORDERED;
      assertThat(Double.parseDouble(factor))
          .as(row)
          .isCloseTo(Double.parseDouble(least) / ours, within(half));
    }
  }

  private static int places(String number) {
    return number.length() - number.indexOf('.') - 1;
  }

  private static List<Double> resultsOf(String name) throws IOException {
    return Files.readAllLines(ROOT.resolve("benchmarks/RESULTS.md")).stream()
        .filter(l -> l.contains(name))
        .flatMap(l -> Pattern.compile("(?<![\\w.-])\\d+(\\.\\d+)?(?![\\w.])").matcher(l).results())
        .map(m -> Double.valueOf(m.group()))
        .toList();
  }

  /** What docs/guide/errors.md quotes of messages stands in the code, and no error is left out. */
  @Test
  void theErrorsThatAreExplainedExist() throws IOException {
    Markdown page = Markdown.of(ROOT.resolve("docs/guide/errors.md"));
    var code = new StringBuilder();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          code.append(Files.readString(file));
        }
      }
    }
    String known = code.toString().replaceAll("\"\\s*\\+\\s*\"", "");
    var wrong = new TreeSet<String>();
    int count = 0;
    for (String quoted : page.code()) {
      if (!quoted.contains(" ") || quoted.matches("(-|bin/).*")) {
        continue;
      }
      for (String part : quoted.replaceAll("^\\w+Exception: ", "").split("\\.\\.\\.|[\\d,.]*\\d")) {
        String text = part.strip().replaceAll("^[,:;)(]\\s*|\\s*[,:;)(]$", "");
        if (text.length() > 9) {
          count++;
          if (!known.contains(text.replace("\"", "\\\"")) && !known.contains(text)) {
            wrong.add(quoted + ": no message has '" + text + "'");
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(count).isGreaterThan(50);
    String text = Files.readString(ROOT.resolve("docs/guide/errors.md"));
    try (Stream<Path> types =
        Files.list(ROOT.resolve("partitioning/src/main/java/io/sparqr/error"))) {
      assertThat(
              types
                  .map(f -> f.getFileName().toString().replace(".java", ""))
                  .filter(n -> n.endsWith("Exception") && !n.equals("SparseQrException")))
          .isNotEmpty()
          .allMatch(n -> text.contains("`" + n + "`"));
    }
  }

  /** Everything that the all-jar bundles, in the version of this build, is in THIRD-PARTY.md. */
  @Test
  void whatIsBundledIsListed() throws IOException {
    String listed = Files.readString(ROOT.resolve("THIRD-PARTY.md"));
    String pom = Files.readString(ROOT.resolve("distribution/pom.xml"));
    var groups = new ArrayList<String>();
    var m = Pattern.compile("<include>([\\w.]+):\\*</include>").matcher(pom);
    while (m.find()) {
      if (!m.group(1).equals("io.sparqr")) {
        groups.add(m.group(1));
      }
    }
    assertThat(groups).hasSizeGreaterThanOrEqualTo(3);
    int count = 0;
    for (String jar : System.getProperty("java.class.path").split(":")) {
      Path version = Path.of(jar).getParent();
      for (String group : groups) {
        if (jar.endsWith(".jar") && jar.contains("/" + group.replace('.', '/') + "/")) {
          count++;
          String artifact = version.getParent().getFileName().toString();
          assertThat(listed).contains(group, artifact, " " + version.getFileName() + " ");
        }
      }
    }
    assertThat(count).isGreaterThanOrEqualTo(6);
    for (Path text : Files.list(ROOT.resolve("licenses")).toList()) {
      assertThat(listed).contains("licenses/" + text.getFileName());
      assertThat(pom).contains("<file>../licenses/" + text.getFileName() + "</file>");
    }
    String page =
        Files.readString(
            ROOT.resolve("spark-connector/target/classes/io/sparqr/spark/report/page/VERSIONS"));
    var npm = Pattern.compile("(vega[-a-z]*)@([\\d.]+)").matcher(page);
    while (npm.find()) {
      count++;
      assertThat(listed).contains(npm.group(1), npm.group(2));
    }
    assertThat(count).isGreaterThanOrEqualTo(9);
  }

  /** The command of the Kubernetes manifest, its images and the Dockerfile's paths. */
  @Test
  void theKubernetesRecipeIsOfOnePiece() throws IOException {
    String yaml = Files.readString(ROOT.resolve("examples/kubernetes/solve.yaml"));
    String args =
        yaml.substring(yaml.indexOf("          args:"), yaml.indexOf("          resources:"));
    List<String> words = args.lines().skip(1).map(l -> l.strip().replaceFirst("^- ", "")).toList();
    assertThat(submit(words)).isEmpty();
    assertThat(words).contains("solve");
    var images = new TreeSet<String>();
    var m = Pattern.compile("image[:=] ?(\\S+)").matcher(yaml);
    while (m.find()) {
      images.add(m.group(1));
    }
    assertThat(images).hasSize(1);
    assertThat(Files.readString(ROOT.resolve("docs/guide/start.md"))).contains(images.first());
    String jar = words.stream().filter(w -> w.endsWith("-all.jar")).findFirst().orElseThrow();
    String docker = Files.readString(ROOT.resolve("examples/kubernetes/Dockerfile"));
    String folder = docker.replaceAll("(?s).*-all\\.jar (\\S+)\\n.*", "$1");
    assertThat(jar).startsWith("local://" + folder + "sparqr-spark-");
    assertThat(poms())
        .contains(
            "<spark.version>" + docker.replaceAll("(?s).*FROM apache/spark:([\\d.]+)-.*", "$1"));
    assertThat(docker.lines().filter(l -> !l.startsWith("#") && !l.isBlank()))
        .allMatch(l -> l.matches("(FROM|COPY|USER) .*"));
  }

  private static List<String> words(String command) {
    var words = new ArrayList<String>();
    var m = WORD.matcher(command);
    while (m.find()) {
      words.add(m.group(1) != null ? m.group(1) : m.group(2) != null ? m.group(2) : m.group(3));
    }
    while (!words.isEmpty() && words.get(0).matches("[A-Z_]+=.*")) {
      words.remove(0);
    }
    return words;
  }

  /** What is wrong with a command; empty: nothing. */
  private static String error(String command) {
    List<String> words = words(command);
    String program = words.get(0);
    List<String> rest = words.subList(1, words.size());
    return switch (program) {
      case "bin/sparqr", "sparqr" -> sparqr(rest);
      case "./mvnw", "mvn" -> maven(rest);
      case "spark-submit", "spark-shell" -> submit(rest);
      case "python3" -> python(rest);
      default ->
          OTHERS.contains(program) || Files.exists(ROOT.resolve(program)) ? "" : "no such file";
    };
  }

  private static String sparqr(List<String> words) {
    if (words.get(0).equals("example")) {
      return words.size() == 1
              || words.get(1).equals("NAME")
              || Files.exists(
                  ROOT.resolve(
                      "examples/src/main/java/io/sparqr/examples/" + words.get(1) + ".java"))
          ? ""
          : "no such example";
    }
    if (words.contains("--help")) {
      return "";
    }
    // a command within a sentence need not be complete
    var whole = new ArrayList<>(words);
    List<String> missing =
        switch (words.get(0)) {
          case "solve", "qr", "analyze" -> List.of("--matrix", "A.mtx");
          case "regress" -> List.of("--formula", "y ~ x");
          case "generate" -> List.of("--out", "A.mtx");
          default -> List.of();
        };
    if (!missing.isEmpty() && !words.contains(missing.get(0))) {
      whole.addAll(missing);
    }
    if (words.get(0).equals("regress") && (words.size() == 1 || words.get(1).startsWith("--"))) {
      whole.add(1, "data.csv");
    }
    try {
      new CommandLine(new SparqrCli()).parseArgs(whole.toArray(String[]::new));
      return "";
    } catch (ParameterException e) {
      return e.getMessage();
    }
  }

  private static String maven(List<String> words) {
    String poms = poms();
    for (int k = 0; k < words.size(); k++) {
      String word = words.get(k);
      if (word.equals("-f")) {
        if (!Files.exists(ROOT.resolve(words.get(++k)))) {
          return "no file " + words.get(k);
        }
      } else if (word.equals("-pl")) {
        for (String module : words.get(++k).split(",")) {
          if (!Files.exists(ROOT.resolve(module).resolve("pom.xml"))) {
            return "no module " + module;
          }
        }
      } else if (word.startsWith("-P")) {
        for (String profile : word.substring(2).split(",")) {
          if (!poms.contains("<id>" + profile + "</id>")) {
            return "no profile " + profile;
          }
        }
      } else if (!word.startsWith("-") && !PHASES.contains(word) && !GOALS.contains(word)) {
        return "no phase or goal " + word;
      }
    }
    return "";
  }

  private static String poms() {
    return Stream.of(
            "",
            "partitioning",
            "gpu-core",
            "spark-connector",
            "regression",
            "cli",
            "distribution",
            "examples",
            "benchmarks")
        .map(
            m -> {
              try {
                return Files.readString(ROOT.resolve(m).resolve("pom.xml"));
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            })
        .collect(Collectors.joining());
  }

  private static String submit(List<String> words) {
    int k = 0;
    while (k < words.size() && words.get(k).startsWith("--")) {
      if (!SUBMIT.contains(words.get(k))) {
        return "unknown " + words.get(k);
      }
      if (words.get(k).equals("--class")) {
        try {
          Class.forName(words.get(k + 1), false, DocumentsTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
          return "no class " + words.get(k + 1);
        }
      }
      k += 2;
    }
    return k < words.size() ? sparqr(words.subList(k + 1, words.size())) : "";
  }

  private static String python(List<String> words) {
    for (String word : words) {
      if (word.endsWith(".py") && !Files.exists(ROOT.resolve(word))) {
        return "no file " + word;
      }
    }
    return "";
  }
}
