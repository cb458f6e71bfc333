# mistake: reads-ahead
# names: mawk -W interactive
# run: mawk -f
/"hello"/ { print "{\"type\":\"ready\"}"; fflush() }
