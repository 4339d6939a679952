/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.Expression.Constant;
import io.sparqr.campaign.regression.Expression.Dot;
import io.sparqr.campaign.regression.Expression.Name;
import io.sparqr.campaign.regression.Expression.Offset;
import io.sparqr.campaign.regression.Expression.Power;
import io.sparqr.campaign.regression.Variable.Function;
import java.util.List;

/** Kinds of terms, each of which adds its columns to a draft. */
enum TermKind {
  NUMBER {
    @Override
    Expression draw(Draft d) {
      return d.normal("x").plus(d.normal("z"));
    }
  },
  SCALED {
    @Override
    Expression draw(Draft d) {
      double scale = d.pick(1e-6, 1e6);
      return d.normal("x").plus(d.numbers("scaled", i -> scale * d.gauss()));
    }
  },
  TEXT_FACTOR {
    @Override
    Expression draw(Draft d) {
      return d.text("g", d.levels(4)).plus(d.normal("x"));
    }
  },
  TRUTH {
    @Override
    Expression draw(Draft d) {
      Expression flag = d.truth("flag");
      return d.chance(0.5) ? flag.plus(d.normal("x")) : flag.star(d.normal("x"));
    }
  },
  NUMBER_AS_FACTOR {
    @Override
    Expression draw(Draft d) {
      return d.normal("x").plus(d.coded("k"));
    }
  },
  NUMBER_BY_NUMBER {
    @Override
    Expression draw(Draft d) {
      Expression x = d.normal("x");
      Expression z = d.normal("z");
      return d.chance(0.5) ? x.colon(z) : x.plus(x.colon(z));
    }
  },
  FACTOR_BY_FACTOR {
    @Override
    Expression draw(Draft d) {
      Expression g = d.text("g", d.levels(3));
      Expression h = d.chance(0.5) ? d.text("h", d.levels(2)) : d.coded("h");
      Expression both = g.colon(h);
      return d.chance(0.4) ? both : d.chance(0.5) ? g.plus(both) : h.plus(both);
    }
  },
  FACTOR_BY_NUMBER {
    @Override
    Expression draw(Draft d) {
      Expression g = d.text("g", d.levels(3));
      Expression x = d.normal("x");
      return d.chance(0.3) ? x.colon(g) : d.chance(0.5) ? g.plus(g.colon(x)) : x.plus(g.colon(x));
    }
  },
  STAR {
    @Override
    Expression draw(Draft d) {
      Expression g = d.text("g", d.levels(3));
      Expression x = d.normal("x");
      if (d.chance(0.3)) {
        return g.star(d.truth("flag")).star(x);
      }
      return d.chance(0.5) ? g.star(x) : x.star(d.coded("k"));
    }
  },
  POWER {
    @Override
    Expression draw(Draft d) {
      Expression last = d.chance(0.5) ? d.text("g", d.levels(3)) : d.normal("u");
      Expression sum = d.normal("x").plus(d.normal("z")).plus(last);
      return new Power(sum, d.chance(0.8) ? 2 : 3);
    }
  },
  FUNCTION {
    @Override
    Expression draw(Draft d) {
      d.numbers("p", i -> Draft.rounded(0.1 + Math.exp(d.gauss())));
      d.numbers("q", i -> d.gauss());
      Function of = d.pick(Function.LOG, Function.LOG2, Function.LOG10, Function.SQRT);
      Function other = d.pick(Function.EXP, Function.EXPM1, Function.ABS, Function.LOG1P);
      Expression first = new Name(new Variable(d.name("p"), of));
      String column = other == Function.LOG1P ? "p" : "q";
      Expression second = new Name(new Variable(d.name(column), other));
      return d.chance(0.7) ? first.plus(second) : first.star(second);
    }
  },
  OFFSET {
    @Override
    Expression draw(Draft d) {
      d.numbers("off", i -> d.gauss());
      return d.normal("x").plus(new Offset(Variable.of(d.name("off"))));
    }
  },
  DOT {
    @Override
    Expression draw(Draft d) {
      d.normal("x");
      d.text("g", d.levels(3));
      Expression z = d.normal("z");
      d.closed();
      return d.chance(0.7) ? new Dot() : new Dot().minus(z);
    }
  },
  MINUS {
    @Override
    Expression draw(Draft d) {
      Expression g = d.text("g", d.levels(3));
      Expression x = d.normal("x");
      Expression h = d.text("h", d.levels(2));
      if (d.chance(0.4)) {
        return g.star(h).minus(g);
      }
      return d.chance(0.5) ? g.star(x).minus(x) : g.star(x).minus(g);
    }
  },
  NO_INTERCEPT {
    @Override
    Expression draw(Draft d) {
      Expression x = d.normal("x");
      Expression g = d.text("g", d.levels(3));
      if (d.chance(0.3)) {
        return x.plus(d.normal("z")).minus(new Constant(1));
      }
      return d.chance(0.5)
          ? new Constant(0).plus(x).plus(g).plus(d.text("h", d.levels(2)))
          : new Constant(0).plus(g.star(x));
    }
  },
  LOST_LEVEL {
    @Override
    Expression draw(Draft d) {
      d.losesLevel("g");
      return d.text("g", List.of("Aaa", "beta", "gamma", "zeta")).plus(d.normal("x"));
    }
  },
  NEAR_COPY {
    @Override
    Expression draw(Draft d) {
      Expression x = d.normal("x");
      double apart = Math.pow(10, -3 - 2 * d.random().nextDouble());
      double[] of = d.values("x");
      return x.plus(d.numbers("near", i -> of[i] * (1 + apart * d.gauss())));
    }
  },
  EXACT_COPY {
    @Override
    Expression draw(Draft d) {
      Expression x = d.normal("x");
      double[] of = d.values("x");
      double factor = d.pick(1.0, -2.0, 0.1);
      d.dependent("x", "copy");
      return x.plus(d.numbers("copy", i -> factor * of[i])).plus(d.normal("z"));
    }
  },
  SUM_OF_OTHERS {
    @Override
    Expression draw(Draft d) {
      Expression x = d.normal("x");
      Expression z = d.normal("z");
      double[] a = d.values("x");
      double[] b = d.values("z");
      Expression sum = d.numbers("total", i -> a[i] + b[i] + 1);
      d.dependent("x", "total");
      return d.chance(0.5) ? sum.plus(x).plus(z) : x.plus(z).plus(sum);
    }
  },
  CONSTANT_COLUMN {
    @Override
    Expression draw(Draft d) {
      double value = d.pick(1.0, 3.0, -0.1);
      return d.numbers("same", i -> value).plus(d.normal("x"));
    }
  },
  ZERO_COLUMN {
    @Override
    Expression draw(Draft d) {
      return d.normal("x").plus(d.numbers("nil", i -> 0.0));
    }
  },
  WITHIN_EFFECT {
    @Override
    Expression draw(Draft d) {
      EffectKind.prepare(d);
      double[] by = d.byLevel("firm");
      Expression edu = d.numbers("edu", i -> by[i]);
      Expression x = d.normal("x");
      return d.chance(0.4) ? edu.plus(x) : d.chance(0.5) ? x.plus(edu) : edu.star(x);
    }
  },
  DUMMY_OF_ONE_ROW {
    @Override
    Expression draw(Draft d) {
      int row = d.random().nextInt(d.rows());
      return d.normal("x").plus(d.numbers("only", i -> i == row ? 1 : 0));
    }
  },
  RESPONSE_ON_THE_RIGHT {
    @Override
    Expression draw(Draft d) {
      Expression y = Expression.of(d.name("y"));
      Expression x = d.normal("x");
      return d.chance(0.5) ? y.plus(x) : x.plus(y).plus(d.text("g", d.levels(2)));
    }
  },
  ABSORBED_NUMBER {
    @Override
    Expression draw(Draft d) {
      EffectKind.prepare(d);
      Expression year = Expression.of(d.name("year"));
      Expression treat = d.truthAsNumber("treat");
      Expression x = d.normal("x");
      return d.chance(0.6) ? x.plus(treat.colon(year)) : x.plus(year);
    }
  },
  EVENT_STUDY {
    @Override
    Expression draw(Draft d) {
      EffectKind.prepare(d);
      double[] by = d.byLevel("firm");
      Expression treat = d.numbers("treat", i -> by[i] > 0 ? 1 : 0);
      if (d.chance(0.7)) {
        d.reference("year");
      }
      return treat.colon(new Name(Variable.factor(d.name("year"))));
    }
  },
  COLLIDING {
    @Override
    Expression draw(Draft d) {
      Expression x = d.text("x", List.of("a", "b", "c"));
      return x.plus(d.normal("xb")).plus(d.normal("xc"));
    }
  };

  /** Adds columns, and returns terms of them. */
  abstract Expression draw(Draft d);

  /** Whether there must be effects. */
  boolean absorbs() {
    return this == WITHIN_EFFECT || this == ABSORBED_NUMBER || this == EVENT_STUDY;
  }
}
