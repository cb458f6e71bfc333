# A bot like any other: it has a strategy in its folder, secrets in its memory, and waits.
echo ready
read -r _
