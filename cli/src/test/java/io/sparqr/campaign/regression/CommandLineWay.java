/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.spark.cli.CliRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code sparqr regress} on a CSV file: the file of coefficients, and what is printed. */
final class CommandLineWay implements RegressionWay {

  private static final String NUMBER = "([-+0-9.eE]+|NaN|NA|Inf)";
  private static final Pattern SIGMA =
      Pattern.compile("Residual standard error: " + NUMBER + " on ([0-9,]+) degrees of freedom");
  private static final Pattern SHARE =
      Pattern.compile("Multiple R-squared: +" + NUMBER + ",\\s*Adjusted R-squared: +" + NUMBER);
  private static final Pattern WITHIN = Pattern.compile("[Ww]ithin R-squared: +" + NUMBER);
  private static final Pattern F =
      Pattern.compile("F-statistic: +" + NUMBER + " on .*p-value: *< *" + NUMBER);
  private static final Pattern F_ALONE =
      Pattern.compile("F-statistic: +" + NUMBER + " on .*p-value: *" + NUMBER);

  private final Path folder;

  CommandLineWay(Path folder) {
    this.folder = folder;
  }

  @Override
  public String name() {
    return "cli";
  }

  @Override
  public boolean can(RegressionCase c) {
    RegressionOptions o = c.options();
    return o.offset().isEmpty() && o.keep().isEmpty() && o.drop().isEmpty() && o.ridge() == 0;
  }

  @Override
  public Found solve(RegressionCase c) {
    try {
      Path data = folder.resolve("case.csv");
      Path out = folder.resolve("coefficients.csv");
      Files.writeString(data, c.sheet().csv());
      CliRun run = CliRun.of(arguments(c, data, out).toArray());
      if (run.code() != 0) {
        return new Found("exit " + run.code() + ": " + run.err().strip(), List.of(), Map.of());
      }
      return new Found("", table(out), printed(run.out()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> arguments(RegressionCase c, Path data, Path out) {
    RegressionOptions o = c.options();
    var all = new ArrayList<>(List.of("regress", data.toString(), "--formula", c.formulaText()));
    all.addAll(List.of("--out", out.toString(), "--overwrite"));
    all.addAll(List.of("--handle-invalid", o.skip() ? "skip" : "error"));
    if (!o.weights().isEmpty()) {
      all.addAll(List.of("--weights", o.weights()));
    }
    o.categorical().forEach(name -> all.addAll(List.of("--categorical", name)));
    EstimatorWay.references(o.references())
        .forEach(level -> all.addAll(List.of("--reference-levels", level)));
    o.clusters().forEach(name -> all.addAll(List.of("--cluster", name)));
    if (o.clusters().isEmpty()) {
      all.addAll(List.of("--vcov", o.errors()));
    }
    if (!o.correction().isEmpty()) {
      all.addAll(List.of("--cluster-correction", o.correction()));
    }
    return all;
  }

  private static List<Found.Line> table(Path out) throws IOException {
    var rows = new ArrayList<Found.Line>();
    List<String> lines = Files.readAllLines(out);
    for (String line : lines.subList(1, lines.size())) {
      int end = line.startsWith("\"") ? line.indexOf("\",", 1) + 1 : line.indexOf(',');
      String name = line.substring(0, end);
      name = name.startsWith("\"") ? name.substring(1, end - 1).replace("\"\"", "\"") : name;
      String[] rest = line.substring(end + 1).split(",", -1);
      rows.add(
          new Found.Line(name, number(rest[0]), number(rest[1]), number(rest[2]), number(rest[3])));
    }
    return rows;
  }

  private static double number(String text) {
    return text.equals("NA")
        ? Double.NaN
        : Double.parseDouble(text.replaceFirst("Inf$", "Infinity"));
  }

  private static Map<String, Double> printed(String text) {
    var all = new TreeMap<String, Double>();
    Matcher sigma = SIGMA.matcher(text);
    if (sigma.find()) {
      all.put(Comparison.PRINTED + "sigma", number(sigma.group(1)));
      all.put("df", number(sigma.group(2).replace(",", "")));
    }
    Matcher share = SHARE.matcher(text);
    if (share.find()) {
      all.put(Comparison.PRINTED + "r2", number(share.group(1)));
      all.put(Comparison.PRINTED + "r2adj", number(share.group(2)));
    }
    Matcher within = WITHIN.matcher(text);
    if (within.find()) {
      all.put(Comparison.PRINTED + "r2within", number(within.group(1)));
    }
    Matcher f = F.matcher(text);
    Matcher alone = F_ALONE.matcher(text);
    if (f.find()) {
      all.put(Comparison.PRINTED + "f", number(f.group(1)));
    } else if (alone.find()) {
      all.put(Comparison.PRINTED + "f", number(alone.group(1)));
      all.put(Comparison.PRINTED + "fp", number(alone.group(2)));
    }
    return all;
  }
}
