/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer to measure against: x = A \ b by the system's SuiteSparseQR (public C interface), timed by
 * its own clocks. Links to the installed library; nothing of it is part of this project.
 *
 *   spqr_peer MATRIX.mtx [colamd|metis|amd|default] [TOL|none] [REPEAT]
 *
 * b = A ones + sin(row). Prints one line a repeat: seconds of analysis, factorization, solve; flops.
 */
#include <SuiteSparseQR_C.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s MATRIX.mtx [ordering] [tol|none] [repeat]\n", argv[0]);
    return 2;
  }
  const char *name = argc > 2 ? argv[2] : "default";
  int ordering = SPQR_ORDERING_DEFAULT;
  if (!strcmp(name, "colamd")) ordering = SPQR_ORDERING_COLAMD;
  if (!strcmp(name, "metis")) ordering = SPQR_ORDERING_METIS;
  if (!strcmp(name, "amd")) ordering = SPQR_ORDERING_AMD;
  double tol = SPQR_DEFAULT_TOL;
  if (argc > 3) tol = strcmp(argv[3], "none") ? atof(argv[3]) : SPQR_NO_TOL;
  int repeat = argc > 4 ? atoi(argv[4]) : 3;

  cholmod_common cc;
  cholmod_l_start(&cc);
  FILE *f = fopen(argv[1], "r");
  if (!f) {
    perror(argv[1]);
    return 2;
  }
  cholmod_sparse *A = cholmod_l_read_sparse(f, &cc);
  fclose(f);
  if (!A) return 3;
  cholmod_dense *x = cholmod_l_ones(A->ncol, 1, CHOLMOD_REAL, &cc);
  cholmod_dense *b = cholmod_l_zeros(A->nrow, 1, CHOLMOD_REAL, &cc);
  double one[2] = {1, 0}, zero[2] = {0, 0};
  cholmod_l_sdmult(A, 0, one, zero, x, b, &cc);
  for (size_t i = 0; i < A->nrow; i++) ((double *)b->x)[i] += sin((double)i);
  for (int k = 0; k < repeat; k++) {
    double start = now();
    cholmod_dense *s = SuiteSparseQR_C_backslash(ordering, tol, A, b, &cc);
    double seconds = now() - start;
    if (!s) {
      fprintf(stderr, "SuiteSparseQR failed with status %d\n", cc.status);
      return 3;
    }
    printf("%s %s analyze %.3f factorize %.3f solve %.3f total %.3f s, %.4g Gflop, rank %ld\n", argv[1],
           name, cc.SPQR_analyze_time, cc.SPQR_factorize_time, cc.SPQR_solve_time, seconds,
           cc.SPQR_flopcount / 1e9, (long)cc.SPQR_istat[4]);
    fflush(stdout);
    cholmod_l_free_dense(&s, &cc);
  }
  return 0;
}
