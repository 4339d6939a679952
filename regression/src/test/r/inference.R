# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# Reference values of InferenceReferenceTest by R's stats and sandwich. Writes data.csv and r.csv into
# src/test/resources/inference; run from regression:
#   Rscript src/test/r/inference.R
library(sandwich)
out <- "src/test/resources/inference"
set.seed(20260613)
m <- 120
d <- data.frame(
  x1 = round(rnorm(m), 6),
  x2 = round(1900 + 100 * runif(m), 3),
  g = sample(1:8, m, replace = TRUE),
  first = sample(1:15, m, replace = TRUE),
  second = sample(1:9, m, replace = TRUE),
  w = sample(c(0.5, 1, 2, 3.25), m, replace = TRUE))
d$y <- round(1 + 0.5 * d$x1 - 0.02 * d$x2 + 0.3 * d$g + rnorm(15)[d$first] + rnorm(m) * (1 + abs(d$x1)), 6)
write.csv(d, file.path(out, "data.csv"), row.names = FALSE)

lines <- paste("# R", getRversion(), "sandwich", packageVersion("sandwich"))
put <- function(name, v) {
  v <- as.matrix(v)
  for (i in seq_len(nrow(v))) for (j in seq_len(ncol(v)))
    lines <<- c(lines, sprintf("%s,%d,%d,%.17g", name, i - 1, j - 1, v[i, j]))
}
for (weighted in c(FALSE, TRUE)) {
  d$v <- if (weighted) d$w else rep(1, m)
  fit <- lm(y ~ x1 + x2 + factor(g), d, weights = v)
  small <- lm(y ~ x1 + x2, d, weights = v)
  p <- if (weighted) "weighted." else ""
  s <- function(name, v) put(paste0(p, name), v)
  s("coef", coef(fit))
  s("vcov", vcov(fit))
  s("table", summary(fit)$coefficients)
  s("logLik", as.numeric(logLik(fit)))
  s("aic", AIC(fit))
  s("bic", BIC(fit))
  a <- anova(small, fit)
  s("anova", c(a$F[2], a$`Pr(>F)`[2], a$RSS, a$Res.Df))
  s("hat", hatvalues(fit))
  s("rstandard", rstandard(fit))
  s("rstudent", rstudent(fit))
  s("cook", cooks.distance(fit))
  s("press", sum(d$v * (residuals(fit) / (1 - hatvalues(fit)))^2))
  new <- data.frame(x1 = c(0, 1.5), x2 = c(1950, 2050), g = c(1, 5))
  q <- predict(fit, new, se.fit = TRUE, interval = "confidence", level = 0.9)
  s("predict", cbind(q$fit, q$se.fit))
  s("interval", suppressWarnings(predict(fit, new, interval = "prediction", level = 0.9, weights = 2)))
  s("confint", confint(fit, level = 0.99))
  for (type in c("HC0", "HC1", "HC2", "HC3")) s(type, vcovHC(fit, type = type))
  s("CL", vcovCL(fit, ~first))
  s("CL.HC0", vcovCL(fit, ~first, type = "HC0"))
  s("CL.none", vcovCL(fit, ~first, type = "HC0", cadjust = FALSE))
  s("CL2", vcovCL(fit, ~first + second))
  s("CL2.HC0", vcovCL(fit, ~first + second, type = "HC0"))
  s("CL2.none", vcovCL(fit, ~first + second, type = "HC0", cadjust = FALSE))
  b <- coef(fit)[4:10]
  V <- vcovCL(fit, ~first)[4:10, 4:10]
  W <- as.numeric(t(b) %*% solve(V, b))
  s("wald.CL", c(W / 7, pf(W / 7, 7, fit$df.residual, lower.tail = FALSE)))
}
writeLines(lines, file.path(out, "r.csv"))
