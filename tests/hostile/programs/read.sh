# Reads files that aren't its own, the last one that can be read counts.
for path; do
  if read -r found < "$path"; then verdict="BROKE $path holds $found"; fi
done
echo "${verdict:-HELD none can be read}"
