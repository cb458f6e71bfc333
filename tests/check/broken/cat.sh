# mistake: echo
# names: writes back
# run: bash
while read -r line; do
  printf '%s\n' "$line"
done
