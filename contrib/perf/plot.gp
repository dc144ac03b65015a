# SPDX-License-Identifier: BSD-3-Clause
# The plot of gba_perf, an SVG file on standard output. The current directory has the file data of gba_perf_report,
# and texts: call, settings, caption, busy, verdict. There is a verdict only of a program.
set terminal svg size 1000,640 font "sans,13" background rgb "white" noenhanced
set grid ytics
set bmargin at screen 0.36
set label 1 system("cat caption") at screen 0.02,0.19
set label 2 system("cat busy") at screen 0.55,0.19 font "sans,9" textcolor rgb "#c03020"
verdict = system("cat verdict")
if (strlen(verdict)) {
    set title "Time of the program, median of the runs, and the part of its barriers"
    set xlabel verdict
    set yrange [0:*]
    set format y "%g s"
    set key outside top center horizontal Left reverse
    set style data histogram
    set style histogram rowstacked
    set style fill solid 0.8 border -1
    set boxwidth 0.6
    plot "data" using 2:xtic(1) title "the rest" linecolor rgb "#a0a0a0", \
        "" using 3 title "waiting for late ranks" linecolor rgb "#e0a030", \
        "" using 4 title "barriers themselves" linecolor rgb "#c03020"
    exit
}
settings = system("cat settings")
stats "data" using 4 name "low" nooutput
stats "data" using 5 name "high" nooutput
stats "data" using ($5 - $4) name "bar" nooutput
stats "data" using 6 name "floor" nooutput
stats "data" using 7 name "marks" nooutput
floors = exists("floor_records")
low = floors && floor_min < low_min ? floor_min : low_min
more = sqrt(6 * low / high_max)
more = more > 1.2 ? more : 1.2 # so there are two ticks at least
set title "Latency of ".system("cat call")." by ranks: median of the runs".(bar_max > 0 ? ", bars: 95% interval" : "")
set key outside right top
set logscale x 2
set logscale y
set xlabel "ranks"
set format y "%.0s %cs"
set yrange [low/more:high_max*more]
set offsets graph 0.03, graph 0.03, 0, 0
set ytics ()
set for [d=-10:3] for [k in (high_max / low < 1000 ? "1 2 5" : "1")] ytics add (k * 10.0**d)
plot for [i=1:words(settings)] "data" using 2:($1 == i ? $3 : NaN):4:5:xtic(2) with yerrorlines \
        linetype i linewidth 1.5 pointsize 0.7 title word(settings, i), \
    for [i=1:floors] "data" using 2:($1 == 1 ? $6 : NaN) with lines dashtype 3 linecolor "black" \
        title "floor, a bare loop", \
    for [i=1:int(marks_max)] "data" using 2:($7 > 0 ? $3 : NaN) with points pointtype 2 pointsize 1.6 linecolor "black" \
        title "too busy"
