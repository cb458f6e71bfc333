#!/bin/bash
# random: every legal move with (nearly) the same chance. The smallest useful bot in a language
# without JSON: three patterns on the line. No other program is started.
#
# Reproducible: bash's own generator is seeded with the match's `seed`; two numbers of 15 bits make
# one of 30, so that no move is favoured by more than one part in a million.

quoted='^"([^"]*)",?(.*)$'

while IFS= read -r line; do
  [[ $line =~ \"type\":\"([a-z_]+)\" ]]
  case ${BASH_REMATCH[1]} in
    act)
      [[ $line =~ \"turn\":\"([^\"]*)\" ]]
      turn=${BASH_REMATCH[1]}
      # The list that begins with a move: an unknown field may hold another list of that name.
      [[ $line =~ \"legal\":\[(\"(tee|take|swap)\ [^]]*)\] ]]
      rest=${BASH_REMATCH[1]}
      moves=()
      while [[ $rest =~ $quoted ]]; do
        moves+=("${BASH_REMATCH[1]}")
        rest=${BASH_REMATCH[2]}
      done
      pick=$(((RANDOM << 15 | RANDOM) % ${#moves[@]}))
      printf '{"turn":"%s","move":"%s"}\n' "$turn" "${moves[pick]}"
      ;;
    match)
      [[ $line =~ \"seed\":([0-9]+) ]]
      RANDOM=${BASH_REMATCH[1]}
      ;;
    hello) printf '{"type":"ready"}\n' ;;
    bye) exit 0 ;;
  esac
done
exit 0
