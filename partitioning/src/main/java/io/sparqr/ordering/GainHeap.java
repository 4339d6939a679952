/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * A binary heap of vertices by an integer key, greatest first, with update and removal of any
 * vertex in O(log size). Ties fall by position, so the order of operations fixes the result.
 */
final class GainHeap {
  private int[] heap;
  private int[] place;
  private int[] key;
  private int size;

  GainHeap(int capacity) {
    heap = new int[capacity];
    key = new int[capacity];
    place = new int[capacity];
    java.util.Arrays.fill(place, -1);
  }

  /** Empties the heap and makes room for vertices 0..n-1. O(size), or O(n) if it must grow. */
  void reset(int n) {
    for (int i = 0; i < size; i++) {
      place[heap[i]] = -1;
    }
    size = 0;
    if (n > heap.length) {
      heap = new int[n];
      key = new int[n];
      place = new int[n];
      java.util.Arrays.fill(place, -1);
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  boolean contains(int v) {
    return place[v] >= 0;
  }

  /** The vertex of greatest key; the heap must not be empty. */
  int top() {
    return heap[0];
  }

  int topKey() {
    return key[heap[0]];
  }

  void insert(int v, int k) {
    key[v] = k;
    siftUp(size++, v, k);
  }

  /** Changes the key of a vertex that is in the heap. */
  void update(int v, int k) {
    int old = key[v];
    key[v] = k;
    if (k > old) {
      siftUp(place[v], v, k);
    } else if (k < old) {
      siftDown(place[v], v, k);
    }
  }

  /** Removes a vertex if it is there. */
  void remove(int v) {
    int i = place[v];
    if (i < 0) {
      return;
    }
    place[v] = -1;
    int last = heap[--size];
    if (last != v) {
      int k = key[last];
      if (k > key[v]) {
        siftUp(i, last, k);
      } else {
        siftDown(i, last, k);
      }
    }
  }

  private void siftUp(int from, int v, int k) {
    int i = from;
    while (i > 0) {
      int parent = (i - 1) >> 1;
      int u = heap[parent];
      if (key[u] >= k) {
        break;
      }
      heap[i] = u;
      place[u] = i;
      i = parent;
    }
    heap[i] = v;
    place[v] = i;
  }

  private void siftDown(int from, int v, int k) {
    int i = from;
    while (true) {
      int child = 2 * i + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && key[heap[child + 1]] > key[heap[child]]) {
        child++;
      }
      int u = heap[child];
      if (key[u] <= k) {
        break;
      }
      heap[i] = u;
      place[u] = i;
      i = child;
    }
    heap[i] = v;
    place[v] = i;
  }
}
