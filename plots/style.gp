# The look that all fsdpsim plots share. Colours are Okabe and Ito's, told apart by
# colour-blind readers; where two have the same grey, order, place or text tells them
# apart in print. One colour means one thing in every plot. Scripts are told what to
# draw by variables, which the small scripts beside the pictures set; numbers come
# from their data files.
#
# Set before: format (svg, png, pdf), output; width, height (pixels); title, subtitle, stamp;
# left and legend_top (pixels), present (kinds for the legend).
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
# About the pixels that a text takes.
text_width(text, factor) = 8.0 * factor * strlen(text)
set output output
set encoding utf8
set minussign
set datafile separator ","

c_text  = "#222222"
c_quiet = "#555555"
c_grey  = "#767676"
c_grid  = "#D5D5D5"
c_gain  = "#0072B2"
c_cost  = "#D55E00"

# Kinds of work, in the order of every legend.
kinds = "compute forward recompute backward optimizer copy all_gather reduce_scatter all_reduce exposed wait host_bound"
array kind_words[12] = ["compute", "forward", "recompute", "backward", "optimizer", "copy", "all-gather", \
                        "reduce-scatter", "all-reduce", "exposed: compute idles", "host waits", "host-bound"]
array kind_rgb[12] = [0x0072B2, 0x0072B2, 0xF0E442, 0x56B4E9, 0xCC79A7, 0x8A8A8A, 0xE69F00, 0x009E73, 0x000000, 0xD55E00, 0xCCCCCC, 0xCCCCCC]
array text_rgb[12] = [0xFFFFFF, 0xFFFFFF, 0x222222, 0x222222, 0x222222, 0xFFFFFF, 0x222222, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0x222222, 0x222222]
rgb_of(kind) = sum [k = 1:words(kinds)] (word(kinds, k) eq kind ? kind_rgb[k] : 0)
rgb_on(kind) = sum [k = 1:words(kinds)] (word(kinds, k) eq kind ? text_rgb[k] : 0)

# Screen height at so many pixels from the top, and screen width from the left.
from_top(pixels)  = 1.0 - pixels / real(height)
from_left(pixels) = pixels / real(width)

# A step between tics that makes at most n of them up to top.
nice_of(ratio) = ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10
nice_step(top, n) = nice_of(top / n / 10**floor(log10(top / n))) * 10**floor(log10(top / n))

set border 3 linecolor rgb "#666666" linewidth 0.8
tic_font = size_of(0.85)
axis_font = size_of(0.9)
set tics nomirror out scale 0.6 textcolor rgb c_text font tic_font
set key noautotitle
set style fill solid 1.0 noborder

# Title, key figures and the stamp: where the figures come from.
set label 1 title at screen from_left(left),from_top(30) left font size_of(1.2) textcolor rgb c_text
set label 2 subtitle at screen from_left(left),from_top(56) left font size_of(0.9) textcolor rgb c_quiet
set label 3 stamp at screen from_left(width - 16),from_top(height - 12) right font size_of(0.7) textcolor rgb c_grey

# The legend of the kinds in `present`, in one line at so many pixels from the top.
legend_words(i) = (exists("collectives_are_exposed") && strstrt(kind_words[i], "-gather") + strstrt(kind_words[i], "-scatter") \
                   + strstrt(kind_words[i], "-reduce") > 0 ? "exposed " : "") . kind_words[i]
legend_tag = 10
legend_at = left
do for [i = 1:words(kinds)] {
  if (strstrt(" " . present . " ", " " . word(kinds, i) . " ") > 0) {
    set object legend_tag rectangle center screen from_left(legend_at + 7),from_top(legend_top) \
        size screen from_left(14),14.0/height fillcolor rgb kind_rgb[i] fillstyle solid 1.0 noborder
    set label legend_tag legend_words(i) at screen from_left(legend_at + 20),from_top(legend_top) \
        left font size_of(0.85) textcolor rgb c_text
    legend_at = legend_at + 38 + text_width(legend_words(i), 0.85)
    legend_tag = legend_tag + 1
  }
}
