# mistake: buffered
# names: fflush()
# run: mawk -W interactive -f
/"hello"/ { print "{\"type\":\"ready\"}" }
