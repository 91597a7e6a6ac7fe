#!/bin/sh
# The least a program can be: two numbers in, one line out.  It stands for any script that ends with a result.
#
#     ./bowl.sh X Y
awk -v x="$1" -v y="$2" 'BEGIN { print "height=" (x - 1) ^ 2 + (log(y) / log(10) + 1) ^ 2 }'
