/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders graphs in METIS's text format by METIS_NodeND with default options: wall and CPU seconds of
 * that call alone, the least of RUNS; the permutation of FILE goes to FILE.perm, one index a line.
 *
 *   cc -O2 -o metis_peer metis_peer.c -lmetis
 *   ./metis_peer RUNS FILE...
 */
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static idx_t number(FILE *in, int *end_of_line) {
  int c = fgetc(in);
  while (c == ' ') {
    c = fgetc(in);
  }
  idx_t value = 0;
  *end_of_line = c < '0' || c > '9';
  while (c >= '0' && c <= '9') {
    value = 10 * value + (c - '0');
    c = fgetc(in);
  }
  ungetc(c, in);
  return value;
}

static int order(const char *name, int runs) {
  FILE *in = fopen(name, "r");
  if (in == NULL) {
    perror(name);
    return 1;
  }
  int end;
  idx_t n = number(in, &end);
  idx_t edges = number(in, &end);
  idx_t *start = malloc((n + 1) * sizeof(idx_t));
  idx_t *neighbor = malloc(2 * (size_t)edges * sizeof(idx_t));
  idx_t *perm = malloc(n * sizeof(idx_t));
  idx_t *inverse = malloc(n * sizeof(idx_t));
  idx_t at = 0;
  start[0] = 0;
  fgetc(in);
  for (idx_t v = 0; v < n; v++) {
    for (idx_t u = number(in, &end); !end; u = number(in, &end)) {
      neighbor[at++] = u - 1;
    }
    fgetc(in);
    start[v + 1] = at;
  }
  fclose(in);
  if (at != 2 * edges) {
    fprintf(stderr, "%s: %ld entries, expected %ld\n", name, (long)at, 2 * (long)edges);
    return 1;
  }
  double wall = 1e30;
  double cpu = 1e30;
  for (int run = 0; run < runs; run++) {
    double wall0 = seconds(CLOCK_MONOTONIC);
    double cpu0 = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (METIS_NodeND(&n, start, neighbor, NULL, NULL, perm, inverse) != METIS_OK) {
      return 1;
    }
    double w = seconds(CLOCK_MONOTONIC) - wall0;
    double c = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu0;
    wall = w < wall ? w : wall;
    cpu = c < cpu ? c : cpu;
  }
  printf("%s: %ld vertices, %ld entries, wall %.3f s, CPU %.3f s\n", name, (long)n, (long)at, wall, cpu);
  char out_name[4096];
  snprintf(out_name, sizeof out_name, "%s.perm", name);
  FILE *out = fopen(out_name, "w");
  if (out == NULL) {
    perror(out_name);
    return 1;
  }
  for (idx_t k = 0; k < n; k++) {
    fprintf(out, "%ld\n", (long)perm[k]);
  }
  fclose(out);
  free(start);
  free(neighbor);
  free(perm);
  free(inverse);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: metis_peer RUNS FILE...\n");
    return 1;
  }
  for (int i = 2; i < argc; i++) {
    if (order(argv[i], atoi(argv[1])) != 0) {
      return 1;
    }
  }
  return 0;
}
