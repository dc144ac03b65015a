# SPDX-License-Identifier: BSD-3-Clause
# The plot of gba_perf, an SVG file on standard output. `directory` has the files latency, distribution and
# skew of gba_perf_report; `count` is the number of settings, `call` the name of the call. `all` is 0 if no single
# calls were timed: latency is the only picture then.
set terminal svg size 1000,(all ? 1200 : 420) enhanced font "sans,13" background rgb "white"
if (all) { set multiplot layout 3,1 }
set key outside right top noenhanced
set grid
set datafile missing "nan"
set offsets graph 0.05, graph 0.05
set linetype 5 linecolor rgb "#c03020"

set title "Latency of ".call." by ranks: median of the runs, 95% interval; dotted: the floor"
set xlabel "ranks"
set ylabel "ns"
set logscale xy
set logscale x 2
set xrange [1.5:*]
plot for [i=0:count-1] directory."/latency" index i using 1:2:3:4 skip 1 with yerrorlines pointtype 7 linecolor i+1 \
        title word(system(sprintf("grep '^\"' %s/latency | sed -n %dp", directory, i+1)), 1), \
    directory."/latency" index 0 using 1:5 skip 1 with lines dashtype 3 linecolor "black" title "floor"

if (!all) { exit }

set title "Single calls at the largest number of ranks: the part that took longer"
set xlabel "ns"
set ylabel "part of the calls"
unset logscale
set logscale xy
set xrange [*:*]
plot for [i=0:count-1] directory."/distribution" index i using 1:2 skip 1 with steps linewidth 1.5 linecolor i+1 \
        title word(system(sprintf("grep '^\"' %s/distribution | sed -n %dp", directory, i+1)), 1)

set title "Skew at the largest number of ranks"
set xlabel ""
set ylabel "ns"
unset logscale
set logscale y
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set xtics noenhanced
plot directory."/skew" using 2:xtic(1) title "entry p50", "" using 3 title "entry p99", \
    "" using 4 title "exit p50", "" using 5 title "exit p99"
unset multiplot
