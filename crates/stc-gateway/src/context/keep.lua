-- Writes values into a session, one hash, and drops the oldest ones while it is too long.
-- KEYS: the session. ARGV: milliseconds without use, bytes at most, bytes that an entry costs beside its value; names and values.
local session, most, overhead = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local state = redis.call('HMGET', session, 'bytes', 'first', 'last')
local bytes, first, last = tonumber(state[1] or 0), tonumber(state[2] or 0), tonumber(state[3] or 0)
for place = 4, #ARGV, 2 do
  local name, value = ARGV[place], ARGV[place + 1]
  if redis.call('HEXISTS', session, name) == 1 then
    -- A value in the place of another keeps its turn.
    bytes = bytes - redis.call('HSTRLEN', session, name) - overhead
  else
    redis.call('HSET', session, '#' .. last, name)
    last = last + 1
  end
  redis.call('HSET', session, name, value)
  bytes = bytes + #value + overhead
  while bytes > most and first < last do
    local oldest = redis.call('HGET', session, '#' .. first)
    bytes = bytes - redis.call('HSTRLEN', session, oldest) - overhead
    redis.call('HDEL', session, oldest, '#' .. first)
    first = first + 1
  end
end
redis.call('HSET', session, 'bytes', bytes)
redis.call('HSET', session, 'first', first)
redis.call('HSET', session, 'last', last)
redis.call('PEXPIRE', session, ARGV[1])
return bytes
