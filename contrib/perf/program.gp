# SPDX-License-Identifier: BSD-3-Clause
# The plot of gba_perf of a program, an SVG file on standard output. `directory` has the file program of
# gba_perf_report, and style; `verdict` is its verdict.
load directory."/style"
set format y "%g s"
set lmargin at screen 0.08
set rmargin at screen 0.97
set bmargin at screen 0.36
set label 91 caption at screen 0.02,106/height
set label 92 busy at screen 0.02,85/height textcolor rgb "#c03020"
set title "Time of the program, median of the runs, and the part of its barriers"
set xlabel verdict
set yrange [0:*]
set grid ytics
set key outside top center horizontal Left reverse
set style data histogram
set style histogram rowstacked
set style fill solid 0.8 border -1
set boxwidth 0.6
plot directory."/program" using 2:xtic(1) title "the rest" linecolor rgb "#a0a0a0", \
    "" using 3 title "waiting for late ranks" linecolor rgb "#e0a030", \
    "" using 4 title "barriers themselves" linecolor rgb "#c03020"
