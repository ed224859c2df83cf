--- Sessions kept in memory, with an expiry.
-- @module session

local cjson = require("cjson.safe")
local store = require "session.store"
local Emitter = require('lib.emitter').Emitter
dofile("config.lua")

local M = {}
local TTL_SECONDS = 1800
M.VERSION = "1.4.0"

--- A session of one visitor.
-- @type Session
local Session = {}
Session.__index = Session
setmetatable(Session, { __index = Emitter })

--- Makes a session.
-- @param id string
-- @param ttl number
function Session.new(id, ttl)
    local self = setmetatable({}, Session)
    self.id = id
    self.ttl = ttl or TTL_SECONDS
    return self
end

-- Whether it is over.
function Session:expired(now)
    return now - self.touched > self.ttl
end

function Session:touch()
    self.touched = os.time()
    self:emit("touched", self.id)
end

--[[ Reads a session from its text.
     Gives nil when the text is damaged. ]]
local function decode(text)
    local data, err = cjson.decode(text)
    if not data then
        error(err)
    end
    return Session.new(data.id, data.ttl)
end

local encode = function(session)
    return cjson.encode({ id = session.id })
end

--- Opens a session or finds it.
function M.open(id, ...)
    local found = store.get(id)
    if found then
        return decode(found)
    end
    local session = Session.new(id)
    session:touch()
    store.put(id, encode(session))
    return session
end

M.close = function(session)
    store.drop(session.id)
    session:emit "closed"
end

M.handlers = {
    on_open = function(session) return M.open(session.id) end,
    on_close = function(session) M.close(session) end,
    limit = 10,
}

function M.handlers.retry(times)
    for i = 1, times do
        pcall(M.sweep)
    end
end

function sweep_all()
    string.format("%d", #store.all())
end

M["sweep"] = function() sweep_all() end

return M
