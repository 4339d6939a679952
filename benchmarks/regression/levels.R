# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The regression of `RegressionSpeed levels` in R: a sparse model matrix, Cholesky of the normal
# equations, and the errors of all coefficients by the inverse. Needs the package Matrix.
suppressMessages(library(Matrix))
m <- as.integer(commandArgs(TRUE)[1])
set.seed(1)
level <- function(prefix, k) factor(paste0(prefix, sample.int(k, m, TRUE) - 1L))
d <- data.frame(x1 = rnorm(m), x2 = rnorm(m), x3 = rnorm(m), x4 = rnorm(m), x5 = rnorm(m), y = rnorm(m))
a <- paste0("a", sample.int(5000, m, TRUE) - 1L)
b <- paste0("b", sample.int(300, m, TRUE) - 1L)
c <- paste0("c", sample.int(50, m, TRUE) - 1L)
seconds <- function(what, expr) {
  t <- system.time(value <- force(expr))
  cat(sprintf("%-30s %7.2f s wall %7.2f s CPU\n", what, t[["elapsed"]], t[["user.self"]] + t[["sys.self"]]))
  value
}
for (k in 1:2) {
  d <- seconds("factors", { d$a <- factor(a); d$b <- factor(b); d$c <- factor(c); d })
  X <- seconds("sparse model matrix", sparse.model.matrix(~ x1 + x2 + x3 + x4 + x5 + a + b + c, d))
  seconds("A'A", N <- crossprod(X))
  seconds("Cholesky", L <- Cholesky(N))
  seconds("solve", beta <- solve(L, crossprod(X, d$y)))
  seconds("errors of all", {
    r <- d$y - as.numeric(X %*% beta)
    se <- sqrt(diag(solve(L, Diagonal(ncol(X)))) * sum(r^2) / (m - ncol(X)))
  })
}
