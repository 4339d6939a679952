/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

/** The storage of a {@link QuotientGraph}: lists one after another, with gaps of lists removed. */
final class ListStorage {

  private ListStorage() {}

  /**
   * Closes the gaps. O(free + nodes).
   *
   * @param lists the lists, up to {@code free}; no entry is negative
   * @param start size nodes; offset of a node's list, updated
   * @param length size nodes; 0 for a node without a list
   * @return the end of the lists
   */
  static int compact(int[] lists, int free, int[] start, int[] length) {
    // The head of each live list is swapped with its owner's number, so that one sweep through the
    // storage finds and moves the lists.
    for (int k = 0; k < start.length; k++) {
      if (length[k] > 0) {
        int head = start[k];
        start[k] = lists[head];
        lists[head] = ~k;
      }
    }
    int out = 0;
    int p = 0;
    while (p < free) {
      int owner = ~lists[p++];
      if (owner >= 0) {
        int rest = length[owner] - 1;
        lists[out] = start[owner];
        start[owner] = out++;
        System.arraycopy(lists, p, lists, out, rest);
        out += rest;
        p += rest;
      }
    }
    return out;
  }
}
