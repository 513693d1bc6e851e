# What one rank's memory holds over a step, by owner, against what PyTorch can have.
#
# Set before: title, subtitle, stamp; memory (data file: time_ms, then a column of stacked GiB an
# owner); held (words: owners that ever hold anything); from_ms and to_ms; capacity_gib (0: unknown)
# and peak_gib.
left = 90
width = 1280
legend_at_top = 86
area_top = 112
area_bottom = area_top + 300
height = area_bottom + 78
legend_top = 0
present = ""
load "style.gp"

# From the bottom of the stack.
owners = "params grads optimizer activations unsharded_params unsharded_grads comm_buffers other"
array owner_words[8] = ["parameter shards", "gradient shards", "optimizer states", "activations", \
                        "unsharded parameters", "unsharded gradients", "communication buffers", "other"]
owner_colours = "#404040 #6C6C6C #959595 #9CC6E3 #F6D48F #5FB59A #D9A6C2 #EEEEEE"
is_held(i) = strstrt(" " . held . " ", " " . word(owners, i) . " ") > 0

legend_at = left
do for [i = 1:8] {
  if (is_held(i)) {
    set object 20 + i rectangle center screen from_left(legend_at + 7),from_top(legend_at_top) \
        size screen from_left(14),14.0/height fillcolor rgb word(owner_colours, i) fillstyle solid 1.0 border linecolor rgb "#666666"
    set label 20 + i owner_words[i] at screen from_left(legend_at + 20),from_top(legend_at_top) left font size_of(0.8) textcolor rgb c_text
    legend_at = legend_at + 36 + text_width(owner_words[i], 0.8)
  }
}

set lmargin at screen from_left(left)
set rmargin at screen from_left(width - 24)
set tmargin at screen from_top(area_top)
set bmargin at screen from_top(area_bottom)
shows_capacity = capacity_gib > 0 && peak_gib > 0.3 * capacity_gib
most = shows_capacity && capacity_gib > peak_gib ? 1.08 * capacity_gib : 1.15 * peak_gib
set xrange [from_ms:to_ms]
set yrange [0:most]
set ytics nice_step(most, 8)
set format x "%g"
set format y "%g"
set grid x y back linecolor rgb c_grid linewidth 0.8 dashtype 1
set xlabel "time in the step by the host's clock (ms)" font axis_font textcolor rgb c_text
set ylabel "allocated (GiB)" font axis_font textcolor rgb c_text
# The subtitle says what it is.
if (shows_capacity) {
  set arrow 1 from graph 0,first capacity_gib to graph 1,first capacity_gib nohead front linecolor rgb c_cost linewidth 1.8 dashtype 2
}
plot for [i = 8:1:-1] memory every ::1 using 1:(is_held(i) ? column(i + 1) : NaN) with filledcurves y1=0 fillcolor rgb word(owner_colours, i), \
     for [i = 1:8] memory every ::1 using 1:(is_held(i) ? column(i + 1) : NaN) with lines linecolor rgb "#444444" linewidth 0.4
set output
