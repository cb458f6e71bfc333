# Leaves the core that it was pinned to.
if taskset -pc "$1" $$ > /dev/null 2>&1; then
  echo "BROKE on core $(taskset -pc $$ | sed 's/.*: //')"
else
  echo "HELD $(taskset -pc $$ | sed 's/.*: /still on /')"
fi
