# MFU over two keys of a sweep; what does not fit or run is written out.
#
# Set before: title, subtitle, stamp; data (x,y,mfu_percent,text); arrays columns and rows (texts);
# x_name and y_name; n_columns and n_rows; least and most (MFU).
left = 40
cell_width = n_columns > 12 ? 54 : 78
cell_height = 40
names_width = 150
area_left = left + names_width
area_right = area_left + cell_width * n_columns
width = area_right + 40 > 900 ? area_right + 40 : 900
area_top = 108
area_bottom = area_top + cell_height * n_rows
height = area_bottom + 92
legend_top = 0
present = ""
load "style.gp"

set lmargin at screen from_left(area_left)
set rmargin at screen from_left(area_right)
set tmargin at screen from_top(area_top)
set bmargin at screen from_top(area_bottom)
set border 0
set tics scale 0
set xrange [0.5:n_columns + 0.5]
set yrange [0.5:n_rows + 0.5]
set xtics (columns[1] 1)
do for [i = 2:n_columns] { set xtics add (columns[i] i) }
set ytics (rows[1] 1)
do for [i = 2:n_rows] { set ytics add (rows[i] i) }
set xlabel x_name font axis_font textcolor rgb c_text
set label 5 y_name at screen from_left(area_left - 8),from_top(area_top - 14) right font axis_font textcolor rgb c_text

# Dark is high, as in viridis; in grey as well.
set palette defined (0 "#FDE725", 0.25 "#5DC863", 0.5 "#21908C", 0.75 "#3B528B", 1 "#440154")
set cbrange [least:(most > least ? most : least + 1)]
unset colorbox
is_dark(mfu) = mfu > least + 0.45 * (most - least)
set style fill solid 1.0 border linecolor rgb "white"
plot data every ::1 using 1:2:(0.5):(0.5):3 with boxxyerror fillcolor palette, \
     data every ::1 using (strcol(3) eq "NaN" ? $1 : NaN):2:(0.5):(0.5) with boxxyerror fillcolor rgb "#F0F0F0", \
     data every ::1 using (is_dark($3) ? $1 : NaN):2:4 with labels font size_of(0.85) textcolor rgb "white", \
     data every ::1 using (!is_dark($3) ? $1 : NaN):2:4 with labels font size_of(0.85) textcolor rgb c_text, \
     data every ::1 using (strcol(3) eq "NaN" ? $1 : NaN):2:4 with labels font size_of(0.85) textcolor rgb c_cost
set output
