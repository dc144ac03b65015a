# SPDX-License-Identifier: BSD-3-Clause
# The plot of gba_perf, an SVG file on standard output. `directory` has the files style, latency, distribution and
# skew of gba_perf_report. If no single calls were timed, latency is the only picture.
load directory."/style"
set multiplot layout all ? 3 : 1,1 margins 0.08,0.82,182/height,1-40/height spacing 0.09
set title about
set xlabel "ranks"
set logscale x 2
set label 91 caption at screen 0.02,106/height
set label 92 busy at screen 0.02,85/height textcolor rgb "#c03020"
if (marks) { set label 93 "too busy: equal runs differ by a factor of 1.5 or more" at screen 0.6,106/height offset 1.5 \
    point pointtype 2 pointsize 1.6 linecolor "black" }
plot for [i=0:count-1] directory."/latency" index i using 1:2:3:4 with yerrorlines linetype word(lines, i+1) notitle, \
    directory."/latency" index 0 using 1:5 with lines dashtype 3 linecolor "black" notitle, \
    for [i=0:(marks ? count-1 : -1)] directory."/latency" index i using 1:($6 > 0 ? $2 : NaN) with points pointtype 2 pointsize 1.6 \
        linecolor "black" notitle
if (!all) { exit }

unset label
set title "Single calls at the largest number of ranks: the part that took longer"
set xlabel "time of a call"
set ylabel "part of the calls"
unset logscale
set logscale xy 10
set format x "%.0s %cs"
set format y "%g"
set xtics autofreq
set ytics autofreq
set xrange [*:*]
set yrange [*:*]
set key on outside right top
plot for [i=0:count-1] directory."/distribution" index i using 1:2 with steps linetype word(lines, i+1) title word(names, i+1)

set title "Skew at the largest number of ranks"
set xlabel ""
set ylabel ""
unset logscale
set logscale y
set format x
set format y "%.0s %cs"
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8 border -1
plot directory."/skew" using 2:xtic(1) title "entry p50" linecolor rgb "#c0c0c0", \
    "" using 3 title "entry p99" linecolor rgb "#707070", "" using 4 title "exit p50" linecolor rgb "#e0c890", \
    "" using 5 title "exit p99" linecolor rgb "#907030"
unset multiplot
