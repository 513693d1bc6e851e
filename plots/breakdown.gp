# Where the step goes, seen from the compute stream, one bar a variant.
#
# Set before: title, subtitle, stamp; data (row,kind,from_ms,to_ms,text); array names; n_rows and
# row_height; names_width (pixels); present (words); longest_ms.
left = 40
width = 1280
rows_top = 112
rows_bottom = rows_top + row_height * n_rows
height = rows_bottom + 92
legend_top = 86
collectives_are_exposed = 1
load "style.gp"

axis_left = left + names_width
axis_right = width - 30
texts_width = 160
set lmargin at screen from_left(axis_left)
set rmargin at screen from_left(axis_right)
set tmargin at screen from_top(rows_top)
set bmargin at screen from_top(rows_bottom)
x_most = longest_ms * (axis_right - axis_left) / real(axis_right - axis_left - texts_width)
set xrange [0:x_most]
set yrange [n_rows + 0.5:0.5]
set border 1
unset ytics
do for [i = 1:n_rows] {
  set label 100 + i names[i] at screen from_left(axis_left - 12),first i right font size_of(0.9) textcolor rgb c_text
}
set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
set format x "%g"
set xlabel "time in the step (ms)" font axis_font textcolor rgb c_text
set style fill solid 1.0 border linecolor rgb "white"

# Parts with room for it carry their milliseconds.
ms(from, to) = sprintf(to - from < 10 ? "%.1f" : "%.0f", to - from)
has_room(text, from, to) = (to - from) / x_most * (axis_right - axis_left) > text_width(text, 0.8) + 4
is_part(kind) = kind ne "total" && kind ne "none"
plot data every ::1 using (is_part(strcol(2)) ? 0.5 * ($3 + $4) : NaN):1:3:4:($1 - 0.34):($1 + 0.34):(rgb_of(strcol(2))) \
       with boxxyerror fillcolor rgb variable, \
     data every ::1 using (is_part(strcol(2)) && has_room(ms($3, $4), $3, $4) ? 0.5 * ($3 + $4) : NaN):1:(ms($3, $4)):(rgb_on(strcol(2))) \
       with labels font size_of(0.8) textcolor rgb variable, \
     data every ::1 using (strcol(2) eq "total" ? $4 : NaN):1:5 \
       with labels left offset 0.8,0 font size_of(0.9) textcolor rgb c_text, \
     data every ::1 using (strcol(2) eq "none" ? 0 : NaN):1:5 \
       with labels left offset 0.8,0 font size_of(0.9) textcolor rgb c_cost
set output
