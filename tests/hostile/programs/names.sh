# Tells a word to another bot by the name of an empty file, wherever both might write.
if [ "$1" = send ]; then
  for folder in /tmp /var/tmp "$TMPDIR"; do
    if (: > "$folder/$2$3") 2>/dev/null; then made=yes; fi
  done
  if [ "$made" ]; then echo ready; sleep 30; else echo "HELD nothing can be written"; fi
else
  for folder in /tmp /var/tmp "$TMPDIR"; do
    for path in "$folder/$2"*; do
      [ -e "$path" ] && word=${path##*-}
    done
  done
  if [ "$word" ]; then echo "BROKE $word"; else echo "HELD nothing is there"; fi
fi
