# A fork bomb that doubles: bomb.sh DEPTH makes some 2**DEPTH shells, and ends after 20 s.
bomb() {
  if [ "$1" -gt 0 ]; then
    bomb $(($1 - 1)) &
    bomb $(($1 - 1)) &
  fi
  read -r -t 20 _ <&3 # nobody writes there
}
echo up
exec 3<&0
bomb "$1"
