# One rank's step: a lane a stream, below it what memory held, on the same axis, and
# of long steps the turn from forward to backward in detail.
#
# Set before: title, subtitle, stamp; boxes and memory (data files); lanes and present
# (words); step_ms; zoom_from_ms and zoom_to_ms (equal: no detail); capacity_gib and peak_gib (0: unknown).
n_lanes = words(lanes)
has_zoom = zoom_to_ms > zoom_from_ms
lane_height = has_zoom ? 26 : 46
zoom_lane_height = 46
left = 110
right = 1280 - 24
lanes_top = 112
lanes_bottom = lanes_top + lane_height * n_lanes
memory_top = lanes_bottom + 34
memory_bottom = memory_top + 150
zoom_top = memory_bottom + 96
zoom_bottom = zoom_top + (has_zoom ? zoom_lane_height * n_lanes : 0)
width = 1280
height = (has_zoom ? zoom_bottom : memory_bottom) + 76
legend_top = 84
load "style.gp"

lane_words(i) = word(lanes, i) eq "host" ? "host waits" : word(lanes, i)
# Only boxes with room for their text carry it.
has_room(text, from, to, range) = (to - from) / range * (right - left) > 8.5 * strlen(text) + 4
middle(from, to) = 0.5 * (from + to)

set multiplot
set lmargin at screen from_left(left)
set rmargin at screen from_left(right)
unset key
set border 1
set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
set yrange [n_lanes + 0.5:0.5]
unset ytics
do for [i = 1:n_lanes] { set ytics add (lane_words(i) i) scale 0 }

# ---- the whole step ----
set tmargin at screen from_top(lanes_top)
set bmargin at screen from_top(lanes_bottom)
set xrange [0:step_ms]
set format x ""
set xtics scale 0
bar = 0.36
if (has_zoom) {
  set object 40 rectangle from first zoom_from_ms,graph 0 to first zoom_to_ms,graph 1 behind \
      fillcolor rgb "#E8E8E8" fillstyle solid 1.0 noborder
  set label 40 "detail below" at first middle(zoom_from_ms, zoom_to_ms),graph 1.06 center font size_of(0.72) textcolor rgb c_quiet
}
plot for [i = 1:words(kinds)] boxes every ::1 \
       using (strcol(4) eq word(kinds, i) ? middle($2, $3) : NaN):1:2:3:($1 - bar):($1 + bar) \
       with boxxyerror fillcolor rgb word(kind_colours, i) linewidth 0, \
     for [i = 1:words(kinds)] boxes every ::1 \
       using (!has_zoom && strcol(4) eq word(kinds, i) && has_room(strcol(5), $2, $3, step_ms) ? middle($2, $3) : NaN):1:5 \
       with labels font size_of(0.8) textcolor rgb word(text_colours, i)
unset label
unset object

# ---- memory ----
set tmargin at screen from_top(memory_top)
set bmargin at screen from_top(memory_bottom)
set border 3
set xtics scale 0.6
set format x "%g"
set xlabel "time in the step (ms)" offset 0,0.3 textcolor rgb c_text
unset ytics
set ytics autofreq scale 0.6
set yrange [0:1.12 * (capacity_gib > peak_gib ? capacity_gib : peak_gib)]
set grid x y back linecolor rgb c_grid linewidth 0.8 dashtype 1
set ylabel "GiB" offset 1.5,0 textcolor rgb c_text
array memory_words[4] = ["parameters, gradients and optimizer states of the shard", "activations", \
                         "unsharded parameters", "unsharded gradients and buffers"]
memory_colours = "#777777 #BBBBBB #F4C466 #7FCDB4"
legend_at = left
do for [i = 1:4] {
  set object 50 + i rectangle center screen from_left(legend_at + 7),from_top(memory_top - 14) \
      size screen from_left(11),11.0/height fillcolor rgb word(memory_colours, i) fillstyle solid 1.0 noborder
  set label 50 + i memory_words[i] at screen from_left(legend_at + 18),from_top(memory_top - 14) left font size_of(0.75) textcolor rgb c_text
  legend_at = legend_at + 40 + 6.6 * strlen(memory_words[i])
}
set label 55 "allocated, by the host's clock" at screen from_left(right),from_top(memory_top - 14) right font size_of(0.75) textcolor rgb c_quiet
if (capacity_gib > 0) {
  set arrow 1 from graph 0,first capacity_gib to graph 1,first capacity_gib nohead front linecolor rgb c_text linewidth 1.2 dashtype 2
  set label 56 sprintf("capacity %.1f GiB", capacity_gib) at graph 0.995,first capacity_gib right offset 0,-0.7 font size_of(0.75) textcolor rgb c_text front
}
plot for [i = 4:1:-1] memory every ::1 using 1:i + 1 with fillsteps fillcolor rgb word(memory_colours, i), \
     memory every ::1 using 1:5 with steps linecolor rgb "#444444" linewidth 1.2
unset label
unset object
unset arrow
unset ylabel

# ---- the turn, in detail ----
if (has_zoom) {
  set tmargin at screen from_top(zoom_top)
  set bmargin at screen from_top(zoom_bottom)
  set border 1
  set xrange [zoom_from_ms:zoom_to_ms]
  set yrange [n_lanes + 0.5:0.5]
  unset ytics
  do for [i = 1:n_lanes] { set ytics add (lane_words(i) i) scale 0 }
  unset grid
  set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
  set label 60 "from forward to backward, in detail; numbers are blocks" at screen from_left(left),from_top(zoom_top - 16) left font size_of(0.9) textcolor rgb c_quiet
  set style fill solid 1.0 border linecolor rgb "white"
  clipped_from(x) = x < zoom_from_ms ? zoom_from_ms : x
  clipped_to(x)   = x > zoom_to_ms ? zoom_to_ms : x
  is_seen(from, to) = to > zoom_from_ms && from < zoom_to_ms
  plot for [i = 1:words(kinds)] boxes every ::1 \
         using (strcol(4) eq word(kinds, i) && is_seen($2, $3) ? middle(clipped_from($2), clipped_to($3)) : NaN):1: \
               (clipped_from($2)):(clipped_to($3)):($1 - bar):($1 + bar) \
         with boxxyerror fillcolor rgb word(kind_colours, i) linewidth 0.6, \
       for [i = 1:words(kinds)] boxes every ::1 \
         using (strcol(4) eq word(kinds, i) && is_seen($2, $3) \
                && has_room(strcol(5), clipped_from($2), clipped_to($3), zoom_to_ms - zoom_from_ms) \
                ? middle(clipped_from($2), clipped_to($3)) : NaN):1:5 \
         with labels font size_of(0.8) textcolor rgb word(text_colours, i)
}
unset multiplot
set output
