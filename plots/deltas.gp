# Throughput of each variant against the baseline.
#
# Set before: title, subtitle, stamp; data; array names; n_rows; least and most (percent, with 0 between).
left = 40
width = 1000
height = 150 + 44 * n_rows
legend_top = 0
present = ""
load "style.gp"

set lmargin at screen 0.26
set rmargin at screen 0.96
set tmargin at screen from_top(84)
set bmargin at screen from_top(84 + 44 * n_rows)
room = 0.16 * (most - least)
set xrange [(least < 0 ? least - room : least):(most > 0 ? most + room : most)]
set yrange [n_rows + 0.5:0.5]
set border 1
unset ytics
do for [i = 1:n_rows] {
  set label 100 + i names[i] at screen 0.25,first i right font size_of(0.9) textcolor rgb c_text
}
set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
set format x "%g"
set xlabel "change in tokens/s per GPU (%)" textcolor rgb c_text
set arrow 1 from first 0,graph 0 to first 0,graph 1 nohead front linecolor rgb "#444444" linewidth 1.4

# Gains are blue, losses vermillion; what does not fit in memory is grey.
percent(x) = sprintf("%s%.1f %%", x < 0 ? "−" : "+", abs(x))
is_kind(kind, status, delta) = kind == 3 ? status eq "does_not_fit" : status ne "ok" ? 0 : kind == 1 ? delta >= 0 : delta < 0
colours = "#0072B2 #D55E00 #AAAAAA"
plot for [k = 1:3] data every ::1 using (is_kind(k, strcol(3), $2) ? 0.5 * $2 : NaN):1:(0 < $2 ? 0 : $2):(0 < $2 ? $2 : 0):($1 - 0.3):($1 + 0.3) \
       with boxxyerror fillcolor rgb word(colours, k), \
     data every ::1 using ($2 == $2 && $2 >= 0 ? $2 : NaN):1:(percent($2) . (strcol(3) eq "ok" ? "" : ", does not fit")) \
       with labels left offset 0.8,0 font size_of(0.9) textcolor rgb c_text, \
     data every ::1 using ($2 == $2 && $2 < 0 ? $2 : NaN):1:(percent($2) . (strcol(3) eq "ok" ? "" : ", does not fit")) \
       with labels right offset -0.8,0 font size_of(0.9) textcolor rgb c_text, \
     data every ::1 using ($2 == $2 ? NaN : 0):1:3 with labels left offset 0.8,0 font size_of(0.9) textcolor rgb c_text
set output
