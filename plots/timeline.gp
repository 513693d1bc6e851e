# One rank's step: a lane a stream, below it what memory held, on the same axis unless the host
# runs far ahead, and of long steps the turn from forward to backward in detail.
#
# Set before: title, subtitle, stamp; boxes, detail and memory (data files); lanes and present
# (words); step_ms; zoom_from_ms and zoom_to_ms (equal: no detail); memory_from_ms and memory_to_ms;
# capacity_gib and peak_gib (0: unknown).
n_lanes = words(lanes)
has_zoom = zoom_to_ms > zoom_from_ms
has_memory = peak_gib > 0
memory_apart = has_memory && (memory_from_ms != 0 || memory_to_ms != step_ms)
lane_height = has_zoom ? 26 : 44
zoom_lane_height = 44
left = 124
right = 1280 - 24
lanes_top = 118
lanes_bottom = lanes_top + lane_height * n_lanes
memory_top = lanes_bottom + (memory_apart ? 88 : 38)
memory_bottom = has_memory ? memory_top + 160 : lanes_bottom
zoom_top = memory_bottom + 96
zoom_bottom = zoom_top + (has_zoom ? zoom_lane_height * n_lanes : 0)
width = 1280
height = (has_zoom ? zoom_bottom : memory_bottom) + 78
legend_top = 86
load "style.gp"

lane_words(i) = word(lanes, i) eq "host" ? "host waits" : word(lanes, i)
# Only boxes with room for their text carry it.
has_room(text, from, to, range) = (to - from) / range * (right - left) > text_width(text, 0.8) + 6
middle(from, to) = 0.5 * (from + to)
bar = 0.36

set multiplot
set lmargin at screen from_left(left)
set rmargin at screen from_left(right)
unset key
set border 1
set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
set yrange [n_lanes + 0.5:0.5]
set ytics (lane_words(1) 1) scale 0
do for [i = 2:n_lanes] { set ytics add (lane_words(i) i) }

# ---- the whole step ----
set tmargin at screen from_top(lanes_top)
set bmargin at screen from_top(lanes_bottom)
set xrange [0:step_ms]
if (has_memory && !memory_apart) {
  set format x ""
  set xtics scale 0
} else {
  set xlabel "time in the step (ms)" offset 0,0.3 font axis_font textcolor rgb c_text
}
if (has_zoom) {
  set object 40 rectangle from first zoom_from_ms,graph 0 to first zoom_to_ms,graph 1 behind \
      fillcolor rgb "#E8E8E8" fillstyle solid 1.0 noborder
  set label 40 "detail below" at first middle(zoom_from_ms, zoom_to_ms),graph 1 center offset 0,0.6 font size_of(0.75) textcolor rgb c_quiet
}
plot boxes every ::1 using (middle($2, $3)):1:2:3:($1 - bar):($1 + bar):(rgb_of(strcol(4))) \
       with boxxyerror fillcolor rgb variable linewidth 0, \
     boxes every ::1 \
       using (!has_zoom && has_room(strcol(5), $2, $3, step_ms) ? middle($2, $3) : NaN):1:5:(rgb_on(strcol(4))) \
       with labels font size_of(0.8) textcolor rgb variable
unset label
unset object

# ---- memory ----
if (has_memory) {
  shows_capacity = capacity_gib > 0 && peak_gib > 0.4 * capacity_gib
  memory_most = 1.12 * (shows_capacity && capacity_gib > peak_gib ? capacity_gib : peak_gib)
  set tmargin at screen from_top(memory_top)
  set bmargin at screen from_top(memory_bottom)
  set border 3
  set xtics scale 0.6
  set format x "%g"
  set xrange [memory_from_ms:memory_to_ms]
  set xlabel (memory_apart ? "time by the clock of the host, which runs ahead (ms)" : "time in the step (ms); memory by the host's clock") offset 0,0.3 font axis_font textcolor rgb c_text
  unset ytics
  set ytics nice_step(memory_most, 5) nomirror scale 0.6 font tic_font textcolor rgb c_text
  set format y "%g"
  set yrange [0:memory_most]
  set grid x y back linecolor rgb c_grid linewidth 0.8 dashtype 1
  array memory_words[4] = ["shards: parameters, gradients, optimizer", "activations", \
                           "unsharded parameters", "unsharded gradients, buffers"]
  memory_colours = "#777777 #8FBBD9 #F6D48F #5FB59A"
  memory_columns = "4 5 6 9"
  stacked(i) = column(int(word(memory_columns, i)))
  set label 49 "GiB allocated" at screen from_left(left - 14),from_top(memory_top - 14) right font size_of(0.8) textcolor rgb c_text
  legend_at = left
  do for [i = 1:4] {
    set object 50 + i rectangle center screen from_left(legend_at + 7),from_top(memory_top - 14) \
        size screen from_left(12),12.0/height fillcolor rgb word(memory_colours, i) fillstyle solid 1.0 noborder
    set label 50 + i memory_words[i] at screen from_left(legend_at + 19),from_top(memory_top - 14) left font size_of(0.8) textcolor rgb c_text
    legend_at = legend_at + 38 + text_width(memory_words[i], 0.8)
  }
  if (shows_capacity) {
    set arrow 1 from graph 0,first capacity_gib to graph 1,first capacity_gib nohead front linecolor rgb c_text linewidth 1.2 dashtype 2
  }
  if (capacity_gib > 0) {
    set label 56 sprintf(shows_capacity ? "- - capacity %.1f GiB" : "capacity %.1f GiB, above", capacity_gib) \
        at screen from_left(right),from_top(memory_top - 14) right font size_of(0.8) textcolor rgb c_quiet
  }
  plot for [i = 4:1:-1] memory every ::1 using 1:(stacked(i)) with filledcurves y1=0 fillcolor rgb word(memory_colours, i), \
       for [i = 1:4] memory every ::1 using 1:(stacked(i)) with lines linecolor rgb "#444444" linewidth (i == 4 ? 1.0 : 0.4)
  unset label
  unset object
  unset arrow
}

# ---- the turn, in detail ----
if (has_zoom) {
  set tmargin at screen from_top(zoom_top)
  set bmargin at screen from_top(zoom_bottom)
  set border 1
  set xlabel "time in the step (ms)" offset 0,0.3 font axis_font textcolor rgb c_text
  set xrange [zoom_from_ms:zoom_to_ms]
  set yrange [n_lanes + 0.5:0.5]
  unset ytics
  set ytics (lane_words(1) 1) scale 0 nomirror font tic_font textcolor rgb c_text
  do for [i = 2:n_lanes] { set ytics add (lane_words(i) i) }
  unset grid
  set grid x back linecolor rgb c_grid linewidth 0.8 dashtype 1
  set label 60 "from forward to backward, in detail; numbers are blocks" at screen from_left(left),from_top(zoom_top - 16) left font size_of(0.9) textcolor rgb c_quiet
  set style fill solid 1.0 border linecolor rgb "white"
  plot detail every ::1 using (middle($2, $3)):1:2:3:($1 - bar):($1 + bar):(rgb_of(strcol(4))) \
         with boxxyerror fillcolor rgb variable linewidth 0.6, \
       detail every ::1 \
         using (has_room(strcol(5), $2, $3, zoom_to_ms - zoom_from_ms) ? middle($2, $3) : NaN):1:5:(rgb_on(strcol(4))) \
         with labels font size_of(0.8) textcolor rgb variable
}
unset multiplot
set output
