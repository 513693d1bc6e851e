# The settings of a plan: time along x, what they take along y, and the front of those that
# none beats in both.
#
# Set before: title, subtitle, stamp; data (x,y,kind,on_front,text; kind: best, front, other, late);
# x_name and y_name; x_first and x_last; log_x (0 or 1); least and most (of y); n_late.
left = 110
width = 1280
area_top = 104
area_bottom = area_top + 420
height = area_bottom + 92
legend_top = 0
present = ""
load "style.gp"
log_x = log_x != 0

set lmargin at screen from_left(left)
set rmargin at screen from_left(left + 1130)
set tmargin at screen from_top(area_top)
set bmargin at screen from_top(area_bottom)
set xlabel x_name font axis_font textcolor rgb c_text
set ylabel y_name font axis_font textcolor rgb c_text
set grid x y back linecolor rgb c_grid linewidth 0.8 dashtype 1

x_space = x_last > x_first ? x_last - x_first : x_first
if (log_x) {
  set logscale x
  x_left = x_first / (x_last / x_first)**0.04
  x_right = x_last * (x_last / x_first)**0.06
  set xtics () font tic_font textcolor rgb c_text
  do for [e = floor(log10(x_left)):ceil(log10(x_right))] {
    do for [m in "1 1.5 2 3 5 7"] {
      if (m * 10.0**e >= x_left && m * 10.0**e <= x_right) { set xtics add (gprintf("%.3g", m * 10.0**e) m * 10.0**e) }
    }
  }
} else {
  x_left = x_first - 0.04 * x_space
  x_right = x_last + 0.06 * x_space
  set xtics nice_step(x_space, 8)
}
set xrange [x_left:x_right]
y_space = most > least ? most - least : 0.1 * most
set yrange [least - 0.06 * y_space:most + 0.12 * y_space]
set ytics nice_step(y_space, 6)
set format y "%.12g"

set label 5 "●" at screen from_left(left),from_top(84) left font size_of(0.9) textcolor rgb c_gain
set label 6 "none is both faster and cheaper" at screen from_left(left + 16),from_top(84) left font size_of(0.8) textcolor rgb c_text
set label 7 "◆" at screen from_left(left + 250),from_top(84) left font size_of(0.9) textcolor rgb c_cost
set label 8 "the best" at screen from_left(left + 266),from_top(84) left font size_of(0.8) textcolor rgb c_text
set label 9 "○" at screen from_left(left + 350),from_top(84) left font size_of(0.9) textcolor rgb c_grey
set label 10 "others" . (n_late > 0 ? ";  ×  misses a limit" : "") at screen from_left(left + 366),from_top(84) left font size_of(0.8) textcolor rgb c_text

plot data every ::1 using ($4 > 0 ? $1 : 1/0):2 with lines linecolor rgb c_gain linewidth 1.6, \
     data every ::1 using (strcol(3) eq "other" ? $1 : NaN):2 with points linecolor rgb c_grey pointtype 6 pointsize 0.9, \
     data every ::1 using (strcol(3) eq "late" ? $1 : NaN):2 with points linecolor rgb c_grey pointtype 2 pointsize 0.9, \
     data every ::1 using (strcol(3) eq "front" ? $1 : NaN):2 with points linecolor rgb c_gain pointtype 7 pointsize 1.1, \
     data every ::1 using (strcol(3) eq "best" ? $1 : NaN):2 with points linecolor rgb c_cost pointtype 13 pointsize 1.7, \
     data every ::1 using ($4 > 0 ? $1 : NaN):2:5 with labels left offset 0.6,0.7 font size_of(0.8) textcolor rgb c_text
set output
