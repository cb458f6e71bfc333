# Changes its own program's folder, so that the next match is played by another one.
if why=$(mv own changed 2>&1); then echo "BROKE its own folder can be written"
else echo "HELD ${why##*: }"; fi
