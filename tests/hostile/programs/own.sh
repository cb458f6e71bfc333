# Opens what a process may change of itself in /proc: for one, its group's priority.
for name in autogroup oom_score_adj timerslack_ns coredump_filter clear_refs comm; do
  if (exec 3>> "/proc/self/$name") 2> /dev/null; then opened="$opened $name"; fi
done
if [ "$opened" ]; then echo "BROKE opened$opened"; else echo "HELD none can be opened"; fi
