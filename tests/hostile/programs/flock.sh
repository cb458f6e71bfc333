# Tells a word by locks on the system's own files: bit n is a shared lock on the nth program.
mapfile -t files < <(find /usr/bin -maxdepth 1 -type f -links 1 | sort | head -64)
if [ "$1" = send ]; then
  for ((bit = 0; bit < ${#2}; bit++)); do
    if [ "${2:bit:1}" = 1 ]; then
      exec {lock}< "${files[bit]}"
      why=$(flock -s -n $lock 2>&1) || { echo "HELD ${why##*: }"; exit; }
    fi
  done
  echo ready
  sleep 30
else
  for ((bit = 0; bit < $2; bit++)); do
    exec {lock}< "${files[bit]}"
    if flock -x -n $lock 2> /dev/null; then word+=0; else word+=1; fi
    exec {lock}<&-
  done
  echo "BROKE $word"
fi
