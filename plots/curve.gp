# Lines over a key of a sweep, a line a variant.
#
# Set before: title, subtitle, stamp; kind (throughput, scaling, deltas); data (line,x,y,no_fit); names
# (line,x,height,name: at the ends of the lines); key_name; n_lines; log_x and log_y (0 or 1); x_first and
# x_last; least and most (of y); n_marks (places where nothing fits); ideal_from (y at x_first of what
# grows with x; 0: none); the tics of x.
left = 96
width = 1280
area_top = 84
area_bottom = area_top + 420
height = area_bottom + 92
legend_top = 0
present = ""
load "style.gp"
log_x = log_x != 0
log_y = log_y != 0

axis_right = left + 930
set lmargin at screen from_left(left)
set rmargin at screen from_left(axis_right)
set tmargin at screen from_top(area_top)
set bmargin at screen from_top(area_bottom)
set xtics nomirror out scale 0.6 font tic_font textcolor rgb c_text
set xlabel key_name font axis_font textcolor rgb c_text
set format y "%g"
set grid x y back linecolor rgb c_grid linewidth 0.8 dashtype 1
if (log_x) {
  set logscale x
  x_right = x_last * (x_last / x_first)**0.03
  set xrange [x_first / (x_last / x_first)**0.03:x_right]
} else {
  x_right = x_last + 0.03 * (x_last - x_first)
  set xrange [x_first - 0.03 * (x_last - x_first):x_right]
}

# Heights from 0 to 1 stand between the least and the most value.
if (log_y) {
  set logscale y
  y_bottom = least / (most / least)**0.12
  y_top = most * (most / least)**0.06
  at_height(h) = least * (most / least)**h
  set ytics () font tic_font textcolor rgb c_text
  do for [e = floor(log10(y_bottom)):ceil(log10(y_top))] {
    do for [m in "1 2 5"] {
      if (m * 10.0**e >= y_bottom && m * 10.0**e <= y_top) { set ytics add (gprintf("%.0s%c", m * 10.0**e) m * 10.0**e) }
    }
  }
} else {
  y_bottom = least - (n_marks > 0 && kind eq "deltas" ? 0.05 + 0.035 * n_lines : least < 0 ? 0.06 : 0) * (most - least)
  y_top = most + 0.08 * (most - least)
  at_height(h) = least + h * (most - least)
  set ytics nice_step(y_top - y_bottom, 8)
}
set yrange [y_bottom:y_top]
mark_height(n) = log_y ? y_bottom * (most / least)**(0.02 + 0.03 * n) : y_bottom + (0.02 + 0.03 * n) * (y_top - y_bottom)

array y_words[3] = ["tokens/s per GPU", "tokens/s", "change in tokens/s per GPU (%)"]
set ylabel y_words[kind eq "throughput" ? 1 : kind eq "scaling" ? 2 : 3] offset 1.5,0 font axis_font textcolor rgb c_text
if (kind eq "deltas") {
  set arrow 1 from graph 0,first 0 to graph 1,first 0 nohead back linecolor rgb "#444444" linewidth 1.2
}

# Told apart by colour, by points and by the names at their ends.
array line_rgb[8] = [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0x000000, 0xE69F00, 0x56B4E9, 0x777777]
array line_points[8] = [7, 5, 9, 13, 11, 6, 4, 8]
array line_dashes[8] = [1, 1, 1, 1, 2, 2, 2, 2]
if (n_marks > 0) {
  set label 4 "× at the foot: nothing that fits in memory, or runs" at screen from_left(axis_right),from_top(area_top - 14) right \
      font size_of(0.8) textcolor rgb c_quiet
}
plot (ideal_from > 0 ? ideal_from * x / x_first : NaN) with lines linecolor rgb "#777777" linewidth 1.2 dashtype 2, \
     for [i = 1:n_lines] data every ::1 using ($1 == i ? $2 : NaN):3 \
       with linespoints linecolor rgb line_rgb[i] linewidth 2 dashtype line_dashes[i] pointtype line_points[i] pointsize 0.9, \
     for [i = 1:n_lines] data every ::1 using ($1 == i && $4 > 0 ? $2 : NaN):(mark_height(i - 1)) \
       with points linecolor rgb line_rgb[i] pointtype 2 pointsize 0.9 linewidth 1.6, \
     for [i = 1:n_lines] names every ::1 using ($1 == i ? (strcol(2) eq "NaN" ? x_right : $2) : NaN):(at_height($3)):4 \
       with labels left offset 0.8,0 font size_of(0.9) textcolor rgb line_rgb[i]
set output
