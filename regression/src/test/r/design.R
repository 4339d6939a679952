# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# What R's model.matrix makes of formulas: names and entries. R 4.2 (Debian: r-base-core).
#   LC_ALL=C Rscript design.R ../resources/r
folder <- commandArgs(trailingOnly = TRUE)[1]
set.seed(20)
m <- 24
d <- data.frame(
  y = rnorm(m), x = rnorm(m), z = round(rexp(m), 3),
  a = sample(c("u", "v", "Z"), m, TRUE), b = sample(c("p", "q", "r"), m, TRUE),
  t = sample(c(TRUE, FALSE), m, TRUE), k = sample(c(7L, 11L, -3L), m, TRUE))
write.csv(format(d, digits = 17, trim = TRUE), file.path(folder, "design.csv"),
          quote = FALSE, row.names = FALSE)
formulas <- c(
  "y~a+b", "y~0+a+b", "y~a:b", "y~x:a", "y~x+x:a", "y~0+x:a", "y~0+x+x:a", "y~a+a:b",
  "y~b+a:b", "y~a*b-a", "y~0+a:b", "y~x*a*b", "y~0+x+a+b+a:b", "y~b:a+x", "y~a+b:a", "y~t",
  "y~0+t", "y~x:z+t:a", "y~0+b:x+a", "y~-1+x:b+a:b", "y~x+a*b-1", "y~a:b:x", "y~a+a:b:x",
  "y~a+x:a:b+x:a", "y~.-x", "y~x+x", "y~a*x-x", "y~a:a", "y~(a+b):x", "y~(a+b)*x", "y~a+1-1",
  "y~0+a+1", "y~a-1+1", "y~x+offset(z)", "y~factor(k)*x", "y~0+factor(k)", "y~k:a",
  "y~(a+b+t)^2", "y~(a+b+x)^3-a:b", "y~(x+z)^2", "y~log1p(z)+a:log1p(z)", "log1p(z)~exp(x)+abs(y)",
  "y~.^2-t:k", "y~a*b*t*x", "y~x:b+a:b+t:a", "y~1", "y~a:b+t:b", "y~b:t-1+x:t", "y~t:x+t:z+a:x:z")
out <- file(file.path(folder, "design.txt"), "w")
for (f in formulas) {
  mm <- model.matrix(as.formula(f), d)
  cat(f, "\n", paste(colnames(mm), collapse = " "), "\n", sep = "", file = out)
  for (i in seq_len(nrow(mm)))
    cat(sprintf("%.17g", mm[i, ]), "\n", file = out)
}
close(out)
