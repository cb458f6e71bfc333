# mistake: buffered
# names: $stdout.sync = true
# run: ruby
while line = $stdin.gets
  puts '{"type":"ready"}' if line.include?('"hello"')
end
