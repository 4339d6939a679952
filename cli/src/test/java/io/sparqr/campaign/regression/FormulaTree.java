/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.List;
import java.util.stream.Collectors;

/**
 * response ~ right | effects.
 *
 * @param effects each of one column or of the combinations of several
 */
record FormulaTree(Variable response, Expression right, List<Effect> effects) {

  /**
   * An absorbed effect.
   *
   * @param sign between the columns of a combination
   */
  record Effect(List<String> columns, char sign) {
    String text() {
      return columns.stream().map(Variable::quoted).collect(Collectors.joining("" + sign));
    }
  }

  String text() {
    String bar =
        effects.isEmpty()
            ? ""
            : " | " + effects.stream().map(Effect::text).collect(Collectors.joining(" + "));
    return response.name() + " ~ " + right.text() + bar;
  }
}
