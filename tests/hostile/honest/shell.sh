# Pipelines, here-documents, process substitution, jobs, traps, arithmetic, the usual tools.
set -euo pipefail
[ "$(printf '3\n1\n2\n' | sort -n | head -1)" = 1 ]
[ "$(sed 's/a/b/' <<<"aaa")" = baa ]
[ "$(awk '{ s += $1 } END { print s }' <(seq 100))" = 5050 ]
[ "$(cat <<END | tr a-z A-Z | rev
text
END
)" = TXET ]
sleep 60 &
job=$!
kill %1
wait "$job" || [ $? = 143 ]
trap 'caught=1' USR1
kill -USR1 $$
[ "$caught" = 1 ]
total=0
for i in {1..50}; do total=$((total + $(echo "$i"))); done
[ $total = 1275 ]
coproc cat
echo there >&"${COPROC[1]}"
read -r back <&"${COPROC[0]}"
[ "$back" = there ]
declare -A cards=([K]=13 [Q]=12)
[ "${cards[K]}" = 13 ]
[ "$(date +%Z)" = UTC ]
ls /usr/bin >/dev/null
find /usr/bin -maxdepth 1 -name 'env' | xargs -n1 basename | grep -qx env
echo OK
