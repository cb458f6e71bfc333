-- mistake: buffered
-- names: io.stdout:setvbuf("no")
-- run: lua
for line in io.lines() do
  if line:find('"hello"') then io.write('{"type":"ready"}\n') end
end
