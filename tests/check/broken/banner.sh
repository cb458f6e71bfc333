# mistake: banner
# names: echo text >&2
# run: bash
echo "My bot 1.0"
read -r line
echo '{"type":"ready"}'
