# Opens the kernel's settings for writing. Nothing is written.
for path in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/drop_caches \
  /proc/sysrq-trigger; do
  if (exec 3>>"$path") 2>/dev/null; then opened="$opened $path"; fi
done
if [ "$opened" ]; then echo "BROKE opened$opened"; else echo "HELD no setting can be opened"; fi
