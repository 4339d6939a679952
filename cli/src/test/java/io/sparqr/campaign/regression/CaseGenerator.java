/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.Expression.Name;
import io.sparqr.campaign.regression.Expression.Offset;
import io.sparqr.campaign.regression.Sheet.Column;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/** Draws case number k of a seed: the kinds of terms in turn, everything else at random. */
final class CaseGenerator {

  private static final int ATTEMPTS = 200;
  private static final int FEWEST = 16;
  private static final int MOST = 60;
  private static final int SMALL = 12;

  private final long seed;
  private final long number;
  private final TermKind term;
  private Draft d;
  private EffectKind effect;
  private MissingKind missing;
  private ErrorKind errors;
  private LabelKind label;
  private RegressionOptions options;
  private List<FormulaTree.Effect> effects;
  private Variable response;
  private String extra;

  private CaseGenerator(long seed, long number) {
    this.seed = seed;
    this.number = number;
    TermKind[] all = TermKind.values();
    term = all[(int) (number % all.length)];
  }

  static RegressionCase draw(long seed, long number) {
    var random = new Random(seed * 1_000_003 + number);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        RegressionCase c = new CaseGenerator(seed, number).attempt(random);
        Oracle.of(c, false);
        return c;
      } catch (Ambiguous e) {
        // another one
      }
    }
    throw new IllegalStateException("case " + number + " of seed " + seed + " cannot be drawn");
  }

  private static <E extends Enum<E>> E any(Random random, E[] all, ToIntFunction<E> share) {
    int at = random.nextInt(Arrays.stream(all).mapToInt(share).sum());
    int k = 0;
    while (at >= share.applyAsInt(all[k])) {
      at -= share.applyAsInt(all[k++]);
    }
    return all[k];
  }

  private RegressionCase attempt(Random random) {
    d = new Draft(random, FEWEST + random.nextInt(MOST - FEWEST + 1), random.nextInt(6) == 0);
    effect = any(random, EffectKind.values(), EffectKind::share);
    while (term.absorbs() && (effect == EffectKind.NONE || effect == EffectKind.TRUTH)) {
      effect = any(random, EffectKind.values(), EffectKind::share);
    }
    missing = any(random, MissingKind.values(), MissingKind::share);
    errors = any(random, ErrorKind.values(), ErrorKind::share);
    label = any(random, LabelKind.values(), LabelKind::share);
    options = RegressionOptions.plain();
    extra = "";
    response = Variable.of(d.name("y"));
    Expression right = terms();
    effects = effect.draw(d);
    drawOptions(right);
    respond();
    weigh();
    cluster();
    if (missing == MissingKind.UNUSED_COLUMN && !d.isClosed()) {
      d.numbers("unused", i -> d.gauss());
    }
    loseValues();
    List<String> kinds =
        List.of(term.name(), effect.name(), missing.name(), errors.name(), label.name(), extra);
    var formula = new FormulaTree(response, right, effects);
    var c = new RegressionCase(seed, number, kinds, d.sheet(), formula, options);
    return label == LabelKind.NO_FREEDOM ? withoutFreedom(c) : c;
  }

  private Expression terms() {
    Expression all = term.draw(d);
    if (!d.isClosed() && d.chance(0.3)) {
      all = all.plus(d.normal("u"));
    }
    if (!d.isClosed() && d.chance(0.2)) {
      all = all.plus(d.text("r", d.levels(3)));
    }
    if (missing == MissingKind.UNDEFINED_FUNCTION && !d.isClosed()) {
      d.numbers("p", i -> Draft.rounded(0.1 + Math.exp(d.gauss())));
      all = all.plus(new Name(new Variable(d.name("p"), Variable.Function.LOG)));
    }
    if (missing == MissingKind.OFFSET && !d.has("off")) {
      d.numbers("off", i -> d.gauss());
      if (d.isClosed() || d.chance(0.5)) {
        options = options.withOffset(d.name("off"));
      } else {
        all = all.plus(new Offset(Variable.of(d.name("off"))));
      }
    }
    return all;
  }

  private void drawOptions(Expression right) {
    options = options.withCategorical(d.categorical());
    // A level of a factor that is not used is an error.
    boolean used = d.isClosed() || mentions(right, d.name("g"));
    boolean factor = d.has("g") && used && term != TermKind.LOST_LEVEL;
    if (factor && d.chance(0.2)) {
      d.reference("g");
    }
    options = options.withReferences(d.references());
    if (!d.dependent().isEmpty() && d.chance(0.4)) {
      List<String> one = List.of(d.dependent().get(0));
      options =
          d.chance(0.5)
              ? options.withPriority(List.of(), one)
              : options.withPriority(List.of(d.dependent().get(1)), List.of());
      extra = "priority";
    } else if (errors == ErrorKind.IID && d.chance(0.15)) {
      options = options.withRidge(d.pick(0.01, 0.3));
      extra = "ridge";
    }
  }

  private boolean mentions(Expression right, String column) {
    var formula = new FormulaTree(response, right, List.of());
    return new TermList(formula, List.of()).variables().contains(Variable.of(column));
  }

  private void respond() {
    double[] y = d.response();
    switch (label) {
      case LOGARITHM -> {
        Arrays.setAll(y, i -> Draft.rounded(0.01 + Math.exp(y[i] / 3)));
        response = new Variable(d.name("y"), Variable.Function.LOG);
      }
      case FAR_FROM_ZERO -> Arrays.setAll(y, i -> y[i] + 1e5);
      case CONSTANT -> Arrays.fill(y, 2.5);
      default -> {}
    }
    boolean usual = label != LabelKind.LOGARITHM || term != TermKind.RESPONSE_ON_THE_RIGHT;
    response = usual ? response : Variable.of(d.name("y"));
    if (label == LabelKind.TRUTH) {
      var is = new Object[y.length];
      Arrays.setAll(is, i -> i == 0 || i > 1 && y[i] > 1);
      d.put("y", new Column(d.name("y"), Sheet.Kind.TRUTH, is));
    } else {
      d.put("y", Column.numbers(d.name("y"), y));
    }
  }

  private void weigh() {
    double none = missing == MissingKind.WEIGHT ? 0 : 0.6;
    if (d.chance(none) && term != TermKind.LOST_LEVEL) {
      return;
    }
    boolean zeros = d.chance(0.35);
    d.numbers(
        "w", i -> zeros && d.chance(0.15) ? 0 : Draft.rounded(0.2 + 2 * d.random().nextDouble()));
    if (d.chance(0.2)) {
      d.wholes("w", i -> zeros && d.chance(0.15) ? 0 : 1 + d.random().nextInt(3));
    }
    options = options.withWeights(d.name("w"));
    extra = (extra + (zeros ? " zero weights" : " weights")).strip();
  }

  private void cluster() {
    String how = d.pick("", "fixest", "sandwich", "none");
    if (options.ridge() > 0) {
      return;
    }
    if (!d.has("firm")) {
      EffectKind.prepare(d);
    }
    boolean used = effect != EffectKind.NONE || term.absorbs();
    int groups = 5 + d.random().nextInt(8);
    List<String> one = List.of(d.name("cl"));
    switch (errors) {
      case ONE_WAY -> {
        groups("cl", groups);
        options = options.withClusters(one, how);
      }
      case BY_EFFECT -> options = options.withClusters(List.of(d.name("firm")), how);
      case TWO_WAY -> {
        groups("cl", groups);
        groups("other", 3 + d.random().nextInt(5));
        options = options.withClusters(List.of(d.name("cl"), d.name("other")), how);
      }
      case NESTED_WAYS -> {
        double[] by = d.byLevel("firm");
        d.labels("other", "n", i -> by[i] > 0 ? 1 : by[i] > -0.5 ? 2 : 3);
        options = options.withClusters(List.of(d.name("firm"), d.name("other")), how);
      }
      case FEW_CLUSTERS -> {
        groups("cl", 2 + d.random().nextInt(2));
        options = options.withClusters(one, how);
      }
      case ONE_CLUSTER -> {
        d.labels("cl", "c", i -> 1);
        groups("other", 4);
        options =
            options.withClusters(d.chance(0.5) ? one : List.of(d.name("other"), d.name("cl")), how);
      }
      case A_CLUSTER_A_ROW -> {
        d.wholes("cl", i -> 7 * i);
        options = options.withClusters(one, how);
      }
      default -> options = options.withErrors(errors.name().equals("IID") ? "iid" : errors.name());
    }
    boolean needed = options.clusters().contains(d.name("firm"));
    if (!used && !needed) {
      d.forget("firm");
    }
    if (!used) {
      d.forget("year");
    }
  }

  private void groups(String name, int count) {
    boolean text = d.chance(0.5);
    int[] of = IntStream.range(0, d.rows()).map(i -> d.random().nextInt(count)).toArray();
    if (text) {
      d.labels(name, "c", i -> of[i]);
    } else {
      d.wholes(name, i -> of[i]);
    }
  }

  private void loseValues() {
    var some = new ArrayList<String>();
    switch (missing) {
      case RESPONSE -> some.add("y");
      case REGRESSOR -> some.addAll(d.of("x", "z", "u", "edu"));
      case FACTOR -> some.addAll(d.of("g", "h", "k", "flag", "r"));
      case EFFECT -> some.addAll(d.of("firm", "year", "region", "id"));
      case OFFSET -> some.addAll(d.of("off"));
      case WEIGHT -> some.addAll(d.of("w"));
      case CLUSTER -> some.addAll(d.of("cl", "other"));
      case UNUSED_COLUMN -> some.addAll(d.of("unused"));
      case UNDEFINED_FUNCTION -> spoil("p", () -> d.pick(0.0, -0.0, -1.0));
      case EVERYWHERE -> some.addAll(d.plainNames());
      default -> {}
    }
    double share = missing == MissingKind.EVERYWHERE ? 0.03 : 0.12;
    for (String name : some) {
      Column c = d.column(name);
      Object[] x = c.values().clone();
      for (int i = 0; i < x.length; i++) {
        if (d.chance(share)) {
          x[i] = c.kind() == Sheet.Kind.NUMBER && d.chance(0.5) ? (Object) Double.NaN : null;
        }
      }
      d.put(name, c.with(x));
    }
    if (!d.losing().isEmpty()) {
      loseLevel();
    }
    if (missing != MissingKind.NOWHERE || !d.losing().isEmpty() || d.chance(0.5)) {
      options = options.skipping();
    }
  }

  /** The first level of a factor is left in rows that lack a value or have no weight. */
  private void loseLevel() {
    Column factor = d.column(d.losing());
    boolean weightless = d.chance(0.3);
    String name = weightless ? "w" : d.pick("y", "x");
    Column c = d.column(name);
    Object[] x = c.values().clone();
    for (int i = 0; i < x.length; i++) {
      if ("Aaa".equals(factor.values()[i])) {
        Object none = c.kind() == Sheet.Kind.WHOLE ? (Object) 0L : (Object) 0.0;
        x[i] = weightless ? none : null;
      }
    }
    d.put(name, c.with(x));
  }

  private void spoil(String name, java.util.function.Supplier<Double> by) {
    Column c = d.column(name);
    if (c == null) {
      return;
    }
    Object[] x = c.values().clone();
    for (int i = 0; i < x.length; i++) {
      x[i] = d.chance(0.1) ? (Object) by.get() : x[i];
    }
    d.put(name, c.with(x));
  }

  /** The first rows, as many as there are independent columns. */
  private static RegressionCase withoutFreedom(RegressionCase c) {
    for (int m = Math.min(SMALL, c.sheet().rows()); m > 2; m--) {
      RegressionCase small = c.with(c.sheet().rows(IntStream.range(0, m).boxed().toList()));
      Expected e = Oracle.of(small, false);
      Figure df = e.scalars().get("df");
      if (df != null && df.value() == 0) {
        return small;
      }
    }
    return c;
  }
}
