# Published runs: predicted against measured throughput, and how far each is off.
#
# Set before: title, subtitle, stamp; data (gpu, of an array; measured; predicted; error_percent); gpus
# (names); n_gpus; least and most (tokens/s).
left = 84
width = 1280
area_top = 128
area_bottom = area_top + 480
height = area_bottom + 92
legend_top = 0
present = ""
load "style.gp"

# Colour and shape tell GPUs apart; shapes alone do in grey.
array point_rgb[8] = [0x0072B2, 0x56B4E9, 0xE69F00, 0x009E73, 0xCC79A7, 0x000000, 0xD55E00, 0x8A8A8A]
array point_shape[8] = [6, 4, 8, 12, 10, 2, 1, 3]
kind_of(g) = (g - 1) % 8 + 1
bound = 25.0 # percent, of the second panel
clip(error) = error > bound ? bound : error < -bound ? -bound : error

set xtics nomirror out scale 0.6 font tic_font textcolor rgb c_text
set logscale x
x_low = least / 1.3
x_high = most * 1.3
set xrange [x_low:x_high]
set xtics () font tic_font textcolor rgb c_text
do for [e = floor(log10(x_low)):ceil(log10(x_high))] {
  do for [m in "1 3"] {
    if (m * 10.0**e >= x_low && m * 10.0**e <= x_high) { set xtics add (gprintf("%.0s%c", m * 10.0**e) m * 10.0**e) }
  }
}
set xlabel "measured (tokens/s per GPU)" font axis_font textcolor rgb c_text
set grid x y back linecolor rgb c_grid linewidth 0.8 dashtype 1
set tmargin at screen from_top(area_top)
set bmargin at screen from_top(area_bottom)

legend_x = left
do for [g = 1:n_gpus] {
  set label 20 + g gpus[g] at screen from_left(legend_x + 16),from_top(92) left font size_of(0.85) textcolor rgb c_text
  set label 40 + g "" at screen from_left(legend_x + 6),from_top(92) point pointtype point_shape[kind_of(g)] \
      pointsize 0.9 linecolor rgb point_rgb[kind_of(g)]
  legend_x = legend_x + 40 + text_width(gpus[g], 0.85)
}

set multiplot

# Left: both axes alike.
set lmargin at screen from_left(left)
set rmargin at screen from_left(left + 480)
set logscale y
set yrange [x_low:x_high]
set ytics () font tic_font textcolor rgb c_text
do for [e = floor(log10(x_low)):ceil(log10(x_high))] {
  do for [m in "1 3"] {
    if (m * 10.0**e >= x_low && m * 10.0**e <= x_high) { set ytics add (gprintf("%.0s%c", m * 10.0**e) m * 10.0**e) }
  }
}
set ylabel "predicted (tokens/s per GPU)" font axis_font textcolor rgb c_text
set label 11 "predicted = measured, within 10 %" at graph 0.05,0.93 left font size_of(0.85) textcolor rgb c_quiet
plot "+" using 1:($1 / 1.1):($1 * 1.1) with filledcurves fillcolor rgb "#E8E8E8", \
     x with lines linecolor rgb "#444444" linewidth 1, \
     for [g = 1:n_gpus] data every ::1 using ($1 == g ? $2 : NaN):3 with points pointtype point_shape[kind_of(g)] \
         pointsize 0.6 linecolor rgb point_rgb[kind_of(g)]

# Right: what the left one is too small for.
do for [g = 1:n_gpus] {
  unset label 20 + g
  unset label 40 + g
}
do for [i = 1:3] { unset label i }
unset logscale y
set lmargin at screen from_left(left + 620)
set rmargin at screen from_left(width - 40)
set yrange [-bound * 1.04:bound * 1.04]
set ytics ("−25 or less" -25, "−10" -10, "−5" -5, "0" 0, "+5" 5, "+10" 10, "+25 or more" 25) font tic_font textcolor rgb c_text
set ylabel "error (%)" font axis_font textcolor rgb c_text
set label 11 "within 5 and 10 %" at graph 0.03,first 8.6 left front font size_of(0.85) textcolor rgb c_quiet
plot "+" using 1:(-10):(10) with filledcurves fillcolor rgb "#E8E8E8", \
     "+" using 1:(-5):(5) with filledcurves fillcolor rgb "#D5D5D5", \
     0 with lines linecolor rgb "#444444" linewidth 1, \
     for [g = 1:n_gpus] data every ::1 using ($1 == g ? $2 : NaN):(clip($4)) with points \
         pointtype point_shape[kind_of(g)] pointsize 0.6 linecolor rgb point_rgb[kind_of(g)]
unset multiplot
set output
