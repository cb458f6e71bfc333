# mistake: not-found
# names: no-such-program
# run: bash
exec no-such-program
