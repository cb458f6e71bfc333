# Sends a signal to a process that isn't its own.
if why=$(kill -USR1 "$1" 2>&1); then echo "BROKE sent"; else echo "HELD ${why##*) - }"; fi
