# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# What R prints of linear models, and the numbers behind it. R 4.2 (Debian: r-base-core).
#   LC_ALL=C Rscript summary.R ../resources/r
folder <- commandArgs(trailingOnly = TRUE)[1]
set.seed(41)
m <- 90
d <- data.frame(
  x = rnorm(m), z = runif(m), big = round(1e6 * runif(m)), tiny = 1e-7 * rnorm(m),
  g = sample(c("p", "q", "r"), m, TRUE), h = sample(c("no", "yes"), m, TRUE),
  w = round(runif(m, 0.2, 3), 3), w0 = rep(c(1, 0, 2.5), 30), off = round(rnorm(m), 2),
  noise = rnorm(m))
d$y <- with(d, round(1.5 + 0.8 * x - 2 * z + (g == "q") + noise, 6))
d$exact <- with(d, round(3 + 2 * x + 0.001 * noise, 8))
d$wage <- with(d, round(20000 + 0.01 * big + 900 * noise, 2))
d$small <- with(d, 1e-9 * noise + 2 * tiny)
d$x2 <- 2 * d$x
write.csv(format(d, digits = 17, trim = TRUE), file.path(folder, "summary.csv"),
          quote = FALSE, row.names = FALSE)
cases <- list(
  c("y ~ x", ""), c("y ~ x + z + g + h", ""), c("y ~ x * g + z:h", "w"), c("y ~ 0 + x + g", ""),
  c("y ~ g - 1", "w"), c("y ~ x + x2 + z", ""), c("exact ~ x", ""), c("exact ~ x + z + g", ""),
  c("wage ~ big", ""), c("wage ~ big + tiny + x", "w"), c("small ~ tiny + z", ""),
  c("y ~ x + offset(off)", ""), c("y ~ 1", ""), c("y ~ x + g", "w0"), c("noise ~ z", ""),
  c("noise ~ g * h * x", ""), c("wage ~ x + z", ""), c("y ~ tiny + big", ""),
  c("exact ~ 0 + x", ""), c("y ~ g:h + x + x2", "w"))
out <- file(file.path(folder, "summary.txt"), "w")
for (case in cases) {
  # R 4.2 takes an offset for explained by the model; r2 and F are those of y less offset here
  f <- as.formula(sub("^y ~ x \\+ offset\\(off\\)", "I(y - off) ~ x", case[1]))
  fit <- if (case[2] == "") lm(f, d) else lm(f, d, weights = d[[case[2]]])
  s <- summary(fit)
  text <- capture.output(print(s))
  from <- grep("Residuals:", text)
  cat("case", case[1], "|", case[2], "\n", file = out)
  fs <- if (is.null(s$fstatistic)) c(NA, NA, NA, NA) else
    c(s$fstatistic, pf(s$fstatistic[1], s$fstatistic[2], s$fstatistic[3], lower.tail = FALSE))
  cat(sprintf("%.17g", c(s$sigma, s$df[2], s$r.squared, s$adj.r.squared, fs, logLik(fit),
                         AIC(fit), BIC(fit))), "\n", file = out)
  cat(text[from:length(text)], sep = "\n", file = out)
}
close(out)
