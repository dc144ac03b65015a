# SPDX-License-Identifier: BSD-3-Clause
# The plot of gba_predict, an SVG file. gba_predict sets $about (the file, the job, the crossover in words), `hosts`,
# `crossover` (0: none) and $data: a line for each number of hosts, with the seconds of the fastest barrier with a
# device, of the fastest one without, and of Open MPI's own.
set terminal svg size 1000,500 font "sans,13" background rgb "white" noenhanced
set output $about[1]
set title $about[2] font ",10"
set xlabel |$about| > 2 ? "hosts; ".$about[3] : "hosts"
set logscale x 2
set xrange [0.9:1.1*hosts]
set logscale y 10
set format y "%.0s %cs"
set ytics ()
set for [d=-10:3] for [k in "1 2 5"] ytics add (k * 10.0**d)
set grid
set key outside right
if (crossover) { set arrow from crossover, graph 0 to crossover, graph 1 nohead dashtype 2 }
plot for [i=2:4] $data using 1:i with linespoints linewidth 1.5 title word("device software fallback", i-1)
