# Throughput of each variant against the baseline.
#
# Set before: title, subtitle, stamp; data (row,percent,text,kind); array names; n_rows and row_height;
# names_width and texts_width (pixels); least and most (percent, with 0 between).
left = 40
width = 1280
rows_top = 84
rows_bottom = rows_top + row_height * n_rows
height = rows_bottom + 92
legend_top = 0
present = ""
load "style.gp"

axis_left = left + names_width
axis_right = width - 30
set lmargin at screen from_left(axis_left)
set rmargin at screen from_left(axis_right)
set tmargin at screen from_top(rows_top)
set bmargin at screen from_top(rows_bottom)
# Texts stand beyond the ends of the bars.
n_sides = (least < 0) + (most > 0)
room = (most - least) * texts_width / (axis_right - axis_left - n_sides * texts_width)
x_least = least < 0 ? least - room : least
set xrange [x_least:(most > 0 ? most + room : most)]
set yrange [n_rows + 0.5:0.5]
set border 1
unset ytics
do for [i = 1:n_rows] {
  set label 100 + i names[i] at screen from_left(axis_left - 12),first i right font size_of(0.9) textcolor rgb c_text
}
set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
set format x "%g"
set xlabel "change in tokens/s per GPU (%)" font axis_font textcolor rgb c_text
set arrow 1 from first 0,graph 0 to first 0,graph 1 nohead front linecolor rgb "#444444" linewidth 1.4

# Gains are blue, losses vermillion; what does not fit in memory is grey.
colours = c_gain . " " . c_cost . " #AAAAAA"
array bar_kinds[3] = ["gain", "loss", "does_not_fit"]
set style fill solid 1.0 noborder
plot for [k = 1:3] data every ::1 \
       using (strcol(4) eq bar_kinds[k] ? 0.5 * $2 : NaN):1:(0 < $2 ? 0 : $2):(0 < $2 ? $2 : 0):($1 - 0.32):($1 + 0.32) \
       with boxxyerror fillcolor rgb word(colours, k), \
     data every ::1 using (strcol(4) ne "none" && $2 >= 0 ? $2 : NaN):1:3 with labels left offset 0.8,0 font size_of(0.9) textcolor rgb c_text, \
     data every ::1 using (strcol(4) ne "none" && $2 < 0 ? $2 : NaN):1:3 with labels right offset -0.8,0 font size_of(0.9) textcolor rgb c_text, \
     data every ::1 using (strcol(4) eq "none" ? x_least : NaN):1:3 with labels left offset 0.8,0 font size_of(0.9) textcolor rgb c_cost
set output
