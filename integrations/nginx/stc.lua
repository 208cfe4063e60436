-- STC for nginx with Lua: whole bodies that are JSON (`serve`), and texts inside MCP messages (`mcp_request`, `mcp_headers`, `mcp_body`),
-- for clients that opt in. The codec is libstc, called by FFI.
local ffi = require "ffi"

ffi.cdef [[
typedef struct stc_encoder stc_encoder;
typedef struct {
    uint32_t format;
    uint64_t window, depth, input, output, ratio, ratio_after, columns, header, row, anchors;
} stc_options;
typedef struct { int32_t status; uint64_t offset, line, column; char message[160]; } stc_error;
typedef struct { const uint8_t *data; size_t len; } stc_bytes;
void stc_options_init(stc_options *options);
stc_encoder *stc_encoder_new(const stc_options *options, stc_error *error);
void stc_encoder_free(stc_encoder **encoder);
int32_t stc_encoder_encode(stc_encoder *encoder, const uint8_t *json, size_t len, stc_bytes *out, stc_error *error);
typedef struct stc_mcp stc_mcp;
stc_mcp *stc_mcp_new(const uint8_t *request, size_t len, uint32_t format, uint32_t events, stc_error *error);
int32_t stc_mcp_push(stc_mcp *mcp, const uint8_t *chunk, size_t len, stc_bytes *out, stc_error *error);
int32_t stc_mcp_finish(stc_mcp *mcp, stc_bytes *out, stc_error *error);
void stc_mcp_free(stc_mcp **mcp);
uint64_t stc_estimate_tokens(const uint8_t *text, size_t len);
const char *stc_version(void);
]]

local M = {}
-- The numbers of stc_format. On the wire, `stc` without a version is version 1.
local NUMBERS = { stc = 1, stc1 = 1, stc2 = 2, ["stc2-labelled"] = 3 }
local VERSIONS = { "1", "2", "2; labelled" }
-- Shorter bodies stay as they are.
M.min_bytes = 128
-- The methods that a subrequest can have.
local METHODS = {}
for name in ("GET POST PUT DELETE OPTIONS PATCH TRACE MKCOL COPY MOVE PROPFIND PROPPATCH LOCK UNLOCK"):gmatch("%u+") do
    METHODS[name] = ngx["HTTP_" .. name]
end

local library
-- A worker has one thread, and a call never yields: each worker has one encoder for each format, and one place for answers.
local encoders = {}
local out, err = ffi.new("stc_bytes[1]"), ffi.new("stc_error[1]")

-- Loads the library; for init_by_lua. `path` is the file, or the name for the system's loader.
function M.load(path)
    library = ffi.load(path or "stc")
    return ffi.string(library.stc_version())
end

local function encoder(number)
    if not encoders[number] then
        local options = ffi.new("stc_options[1]")
        library.stc_options_init(options)
        options[0].format = number
        encoders[number] = library.stc_encoder_new(options, nil)
    end
    return encoders[number]
end

-- Returns a JSON text as STC, or nil and a message.
function M.encode(json, number)
    if library.stc_encoder_encode(encoder(number), json, #json, out, err) ~= 0 then
        return nil, ffi.string(err[0].message)
    end
    return ffi.string(out[0].data, out[0].len)
end

-- Returns the number of the format that the request prefers, or nil.
function M.preferred()
    local name = ngx.var.http_x_prefer_format
    return name and NUMBERS[name:lower()]
end

local function is_json(kind)
    kind = (kind or ""):match("^%s*([^;%s]*)"):lower()
    return kind == "application/json" or kind:match("^application/.+%+json$") ~= nil and kind ~= "application/stc+json"
end

-- Returns a header's value as one line: the values of several lines, joined.
local function line(value)
    return type(value) == "table" and table.concat(value, ", ") or value
end

-- Returns the headers of a subrequest's answer by their names in lower case, each a list of values. The table of a subrequest has
-- the names as the API spells them, perhaps in two ways.
local function lowered(header)
    local all = {}
    for name, value in pairs(header) do
        local lower = name:lower()
        local values = all[lower] or {}
        all[lower] = values
        for _, one in ipairs(type(value) == "table" and value or { value }) do values[#values + 1] = one end
    end
    return all
end

local function is_kept(cache_control)
    for directive in (line(cache_control) or ""):lower():gmatch("[^,]+") do
        if directive:match("^%s*(.-)%s*$") == "no-transform" then return true end
    end
    return false
end

-- Adds the header that the answer depends on.
local function vary_by_format()
    local vary = line(ngx.header["Vary"])
    ngx.header["Vary"] = (vary and vary .. ", " or "") .. "X-Prefer-Format"
end

-- Returns the body as STC, or nil and the reason why it stays.
local function converted(response, header, number)
    local body = response.body
    if response.status ~= 200 then return nil, "excluded" end
    if header["content-encoding"] then return nil, "encoded" end
    if is_kept(header["cache-control"]) then return nil, "no-transform" end
    if not is_json(line(header["content-type"])) then return nil, "not-json" end
    if #body < M.min_bytes then return nil, "too-small" end
    local text = M.encode(body, number)
    if not text then return nil, "invalid" end
    if #text >= #body or library.stc_estimate_tokens(text, #text) > library.stc_estimate_tokens(body, #body) then
        return nil, "not-smaller"
    end
    return text
end

-- Answers a request; for content_by_lua. `upstream` is an internal location that passes the request on. Requests that do not opt in
-- are sent there as they are, and their bodies are not held; so are those with HEAD, or with a method that a subrequest cannot have.
function M.serve(upstream)
    local number, method = M.preferred(), METHODS[ngx.req.get_method()]
    if not number or not method then
        return ngx.exec(upstream)
    end
    ngx.req.read_body()
    local response = ngx.location.capture(upstream, { method = method, always_forward_body = true })
    -- The API ended the body too early. What arrived must not look complete.
    if response.truncated then return ngx.exit(ngx.HTTP_BAD_GATEWAY) end
    local header = lowered(response.header)
    local text, reason = converted(response, header, number)
    ngx.status = response.status
    for name in pairs(response.header) do
        local lower = name:lower()
        if lower ~= "content-length" and lower ~= "transfer-encoding" and lower ~= "connection" then
            local values = header[lower]
            ngx.header[name] = #values == 1 and values[1] or values
        end
    end
    vary_by_format()
    if text then
        ngx.header["Content-Type"] = "application/stc+json"
        ngx.header["Content-Encoding"] = "stc"
        ngx.header["X-STC-Version"] = VERSIONS[number]
        ngx.header["X-STC-Ratio"] = string.format("%.2f", #text / #response.body)
        -- The bytes are others, so a strong tag becomes weak, and ranges are of the original.
        local tag = ngx.header["ETag"]
        if tag and tag:sub(1, 2) ~= "W/" then ngx.header["ETag"] = "W/" .. tag end
        ngx.header["Accept-Ranges"] = nil
    else
        ngx.header["X-STC-Skipped"] = reason
    end
    local body = text or response.body
    ngx.header["Content-Length"] = #body
    ngx.print(body)
end

-- MCP. The request is read, because an answer names only its id; the answer is converted message by message as it passes, so that
-- streams of events are not delayed. The rules are those of stc-gateway: only texts of tool results change, and they are marked.

-- Reads a request; for access_by_lua. `format` is for clients that name none; without it, only clients that opt in get STC.
function M.mcp_request(format)
    local name = ngx.var.http_x_prefer_format
    local number = NUMBERS[(name or format or ""):lower()]
    if not number then return end
    -- A body in a file, or none, is no error: its answers are read as those of unknown tools.
    ngx.req.read_body()
    ngx.ctx.stc_mcp = { number = number, request = ngx.req.get_body_data() or "" }
    -- The answer has to be readable.
    ngx.req.clear_header("Accept-Encoding")
end

local function freed(handle)
    local place = ffi.new("stc_mcp *[1]", handle)
    library.stc_mcp_free(place)
end

-- Begins the answer; for header_filter_by_lua.
function M.mcp_headers()
    local mcp = ngx.ctx.stc_mcp
    if not mcp then return end
    vary_by_format()
    local kind = (ngx.header["Content-Type"] or ""):match("^%s*([^;%s]*)"):lower()
    local events = kind == "text/event-stream"
    if ngx.status ~= 200 or ngx.header["Content-Encoding"] or not (events or kind == "application/json") then return end
    local handle = library.stc_mcp_new(mcp.request, #mcp.request, mcp.number, events and 1 or 0, err)
    mcp.request = nil
    if handle == nil then
        ngx.log(ngx.ERR, "stc: ", ffi.string(err[0].message))
        return
    end
    mcp.handle = ffi.gc(handle, freed)
    ngx.header["Content-Length"] = nil
end

-- Converts a chunk of the answer; for body_filter_by_lua.
function M.mcp_body()
    local mcp = ngx.ctx.stc_mcp
    local handle = mcp and mcp.handle
    if not handle then return end
    local chunk, last = ngx.arg[1], ngx.arg[2]
    local status = library.stc_mcp_push(handle, chunk, #chunk, out, err)
    local sent = status == 0 and ffi.string(out[0].data, out[0].len)
    if sent and last then
        status = library.stc_mcp_finish(handle, out, err)
        sent = status == 0 and sent .. ffi.string(out[0].data, out[0].len)
    end
    if not sent then
        -- A defect of the library: what it held is lost, and the client sees a message that ends too early.
        ngx.log(ngx.ERR, "stc: ", ffi.string(err[0].message))
        sent = ""
    end
    if last then
        mcp.handle = nil
        freed(ffi.gc(handle, nil))
    end
    ngx.arg[1] = sent
end

return M
