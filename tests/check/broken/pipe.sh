# mistake: buffered
# names: --line-buffered
# run: bash
grep --color=never -o '"type":"hello"' | sed 's/.*/{"type":"ready"}/'
