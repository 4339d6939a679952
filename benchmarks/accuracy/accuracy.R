# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# R's coefficients and standard errors for the problems that AccuracyTable wrote. The first column of each
# file is y, the others are the design's, with the ones last; lm has them first. Columns that lm drops have
# NA.
#   Rscript accuracy.R FOLDER r.csv
args <- commandArgs(trailingOnly = TRUE)
lines <- c(paste("# R", getRversion()), "problem,tolerance,column,estimate,std_error")
for (file in sort(list.files(args[1], pattern = "[.]csv$", full.names = TRUE), method = "radix")) {
  name <- sub("[.]csv$", "", basename(file))
  d <- read.csv(file, colClasses = "numeric")
  x <- as.matrix(d[, -1, drop = FALSE])
  n <- ncol(x)
  order <- if (all(x[, n] == 1)) c(n, seq_len(n - 1)) else seq_len(n)
  for (tol in c(1e-7, 1e-14)) {
    fit <- lm.fit(x[, order, drop = FALSE], d$y, tol = tol)
    p <- fit$rank
    live <- order[fit$qr$pivot[seq_len(p)]]
    sigma <- sqrt(sum(fit$residuals^2) / (nrow(d) - p))
    se <- estimate <- rep(NA_real_, n)
    estimate[order] <- fit$coefficients
    se[live] <- sigma * sqrt(diag(chol2inv(fit$qr$qr[seq_len(p), seq_len(p), drop = FALSE])))
    lines <- c(lines, sprintf("%s,%g,%d,%.17g,%.17g", name, tol, seq_len(n) - 1, estimate, se))
  }
}
writeLines(lines, args[2])
