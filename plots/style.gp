# The look that all fsdpsim plots share. Colours are Okabe and Ito's, told apart by
# colour-blind readers and in greyscale print; one colour means one thing in every
# plot. Scripts are told what to draw by variables, which the small scripts beside
# the pictures set; numbers come from their data files.
if (!exists("format")) format = "svg"
if (!exists("output")) output = "picture." . format
font = "DejaVu Sans"

# Names may hold any character, so no text is marked up.
if (format eq "svg") {
  set terminal svg size width,height dynamic noenhanced font font . ",14" background "white"
} else { if (format eq "pdf") {
  set terminal pdfcairo size width/100.0,height/100.0 noenhanced font font . ",10" linewidth 1
} else {
  set terminal pngcairo size width,height noenhanced font font . ",10.5" linewidth 1.2 background "white"
} }
# Sizes of text, to the size of the terminal's own.
size_of(factor) = sprintf("%s,%.1f", font, factor * (format eq "svg" ? 14 : format eq "pdf" ? 10 : 10.5))
set output output
set encoding utf8
set datafile separator ","

c_text  = "#222222"
c_quiet = "#555555"
c_grey  = "#8A8A8A"
c_grid  = "#DDDDDD"

# Kinds of work, in the order of every legend.
kinds = "forward recompute backward optimizer copy all_gather reduce_scatter all_reduce exposed wait host_bound"
array kind_words[11] = ["forward", "recompute", "backward", "optimizer", "copy", "all-gather", \
                        "reduce-scatter", "all-reduce", "compute idles: exposed", "host waits", "host-bound"]
kind_colours = "#0072B2 #F0E442 #56B4E9 #CC79A7 #8A8A8A #E69F00 #009E73 #000000 #D55E00 #CCCCCC #CCCCCC"
text_colours = "#FFFFFF #222222 #222222 #222222 #FFFFFF #222222 #FFFFFF #FFFFFF #FFFFFF #222222 #222222"

# Screen height at so many pixels from the top, and screen width from the left.
from_top(pixels)  = 1.0 - pixels / real(height)
from_left(pixels) = pixels / real(width)

set border 3 linecolor rgb "#666666" linewidth 0.8
set tics nomirror out scale 0.6 textcolor rgb c_text
set key noautotitle
set style fill solid 1.0 noborder

# Title, key figures and the stamp: where the figures come from.
set label 1 title at screen from_left(left),from_top(30) left font size_of(1.2) textcolor rgb c_text
set label 2 subtitle at screen from_left(left),from_top(56) left font size_of(0.9) textcolor rgb c_quiet
set label 3 stamp at screen from_left(width - 16),from_top(height - 14) right font size_of(0.65) textcolor rgb c_grey

# The legend of the kinds in `present`, in one line at so many pixels from the top.
legend_tag = 10
legend_at = left
do for [i = 1:words(kinds)] {
  if (strstrt(" " . present . " ", " " . word(kinds, i) . " ") > 0) {
    set object legend_tag rectangle center screen from_left(legend_at + 7),from_top(legend_top) \
        size screen from_left(14),14.0/height fillcolor rgb word(kind_colours, i) fillstyle solid 1.0 noborder
    set label legend_tag kind_words[i] at screen from_left(legend_at + 20),from_top(legend_top) \
        left font size_of(0.82) textcolor rgb c_text
    legend_at = legend_at + 42 + 7.3 * strlen(kind_words[i])
    legend_tag = legend_tag + 1
  }
}
