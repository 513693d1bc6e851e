# Where the step goes, seen from the compute stream, one bar a variant.
#
# Set before: title, subtitle, stamp; data; array names and totals (texts); n_rows; present; longest_ms.
left = 40
width = 1280
height = 182 + 44 * n_rows
legend_top = 86
load "style.gp"

set lmargin at screen 0.20
set rmargin at screen 0.96
set tmargin at screen from_top(110)
set bmargin at screen from_top(110 + 44 * n_rows)
set xrange [0:1.12 * longest_ms]
set yrange [n_rows + 0.5:0.5]
set border 1
unset ytics
do for [i = 1:n_rows] {
  set label 100 + i names[i] at screen 0.19,first i right font size_of(0.9) textcolor rgb c_text
}
set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
set format x "%g"
set xlabel "time in the step (ms)" textcolor rgb c_text
set style fill solid 1.0 border linecolor rgb "white"

# Parts with room for it carry their milliseconds.
has_room(text, from, to) = (to - from) / (1.12 * longest_ms) * 0.76 * width > 8.5 * strlen(text) + 6
ms(from, to) = sprintf("%.1f", to - from)
plot for [i = 1:words(kinds)] data every ::1 \
       using (strcol(2) eq word(kinds, i) ? 0.5 * ($3 + $4) : NaN):1:3:4:($1 - 0.32):($1 + 0.32) \
       with boxxyerror fillcolor rgb word(kind_colours, i), \
     for [i = 1:words(kinds)] data every ::1 \
       using (strcol(2) eq word(kinds, i) && has_room(ms($3, $4), $3, $4) ? 0.5 * ($3 + $4) : NaN):1:(ms($3, $4)) \
       with labels font size_of(0.8) textcolor rgb word(text_colours, i), \
     data every ::1 using (strcol(2) eq "total" ? $4 : NaN):1:(sprintf("%.1f ms", $4)) \
       with labels left offset 0.8,0 font size_of(0.9) textcolor rgb c_text
set output
