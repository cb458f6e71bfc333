# Changes how it is scheduled: idle hides from the referee's clock, real time starves everybody.
if why=$(chrt "$1" -p "$2" $$ 2>&1); then echo "BROKE $(chrt -p $$ | head -1 | sed 's/.*: //')"
else echo "HELD ${why##*: }"; fi
