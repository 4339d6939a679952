/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.FormulaTree.Effect;
import java.util.List;

/** Kinds of absorbed effects. */
enum EffectKind {
  NONE(4) {
    @Override
    List<Effect> draw(Draft d) {
      return List.of();
    }
  },
  ONE(3) {
    @Override
    List<Effect> draw(Draft d) {
      prepare(d);
      return List.of(one(d, d.pick("firm", "year")));
    }
  },
  TWO(3) {
    @Override
    List<Effect> draw(Draft d) {
      prepare(d);
      return d.chance(0.5)
          ? List.of(one(d, "firm"), one(d, "year"))
          : List.of(one(d, "year"), one(d, "firm"));
    }
  },
  THREE(2) {
    @Override
    List<Effect> draw(Draft d) {
      prepare(d);
      int sectors = 3;
      d.labels("sector", "s", i -> d.random().nextInt(sectors));
      return List.of(one(d, "firm"), one(d, "year"), one(d, "sector"));
    }
  },
  TRUTH(1) {
    @Override
    List<Effect> draw(Draft d) {
      prepare(d);
      d.truth("abroad");
      return List.of(one(d, "abroad"));
    }
  },
  COMBINED(2) {
    @Override
    List<Effect> draw(Draft d) {
      prepare(d);
      Effect both = new Effect(List.of(d.name("firm"), d.name("year")), d.chance(0.7) ? '^' : ':');
      return d.chance(0.5) ? List.of(both) : List.of(one(d, "year"), both);
    }
  },
  NESTED(2) {
    @Override
    List<Effect> draw(Draft d) {
      prepare(d);
      double[] by = d.byLevel("firm");
      d.labels("region", "r", i -> by[i] > 0 ? 1 : 0);
      return d.chance(0.5)
          ? List.of(one(d, "firm"), one(d, "region"))
          : List.of(one(d, "region"), one(d, "firm"), one(d, "year"));
    }
  },
  ONE_ROW_A_LEVEL(2) {
    @Override
    List<Effect> draw(Draft d) {
      prepare(d);
      int alone = d.rows() / 4;
      d.wholes("id", i -> i < alone ? 100 + i : d.random().nextInt(4));
      return d.chance(0.6) ? List.of(one(d, "id")) : List.of(one(d, "id"), one(d, "year"));
    }
  };

  private final int share;

  EffectKind(int share) {
    this.share = share;
  }

  /** How often, beside others. */
  int share() {
    return share;
  }

  /** Adds columns, and returns the effects. */
  abstract List<Effect> draw(Draft d);

  /** Effects that terms may refer to: firms and years. */
  static void prepare(Draft d) {
    if (d.has("firm")) {
      return;
    }
    int firms = 3 + d.random().nextInt(5);
    int years = 2 + d.random().nextInt(3);
    boolean balanced = d.chance(0.4);
    int[] firm = new int[d.rows()];
    int[] year = new int[d.rows()];
    for (int i = 0; i < firm.length; i++) {
      firm[i] = balanced ? i % firms : d.random().nextInt(firms);
      year[i] = balanced ? i / firms % years : d.random().nextInt(years);
    }
    d.labels("firm", "f", i -> firm[i]);
    d.wholes("year", i -> 2015 + year[i]);
  }

  private static Effect one(Draft d, String plain) {
    return new Effect(List.of(d.name(plain)), '^');
  }
}
