// STC (STOA Token Compression): JSON as a shorter text that decodes to the same JSON. Generated from crates/stc-capi; do not edit.
//
// Threads: a handle is used by one thread at a time; different handles are independent. The library starts no threads and has no
// global state.
//
// Pointers: every pointer may be NULL. A NULL handle or output is STC_STATUS_NULL_ARGUMENT; NULL input with length 0 is empty
// input; a NULL stc_error is not written. A length above PTRDIFF_MAX is STC_STATUS_LENGTH.
//
// Errors: after an error a handle is ready for another document. No call unwinds or aborts because of its input.
// Memory that the system refuses in a conversion ends the process; the limits of stc_options bound what a document can take.

#ifndef STC_H
#define STC_H

#include <stddef.h>
#include <stdint.h>


// The outcome of a call. From STC_STATUS_SYNTAX to STC_STATUS_DEFECT it is the kind of a rejected document.
enum stc_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // No error.
    STC_STATUS_OK = 0,
    // A byte that the grammar does not allow at this place.
    STC_STATUS_SYNTAX = 1,
    // The input ended before the document did.
    STC_STATUS_TRUNCATED = 2,
    // Bytes that are not UTF-8.
    STC_STATUS_UTF8 = 3,
    // A control character inside a string, not escaped.
    STC_STATUS_CONTROL = 4,
    // Fewer or more values than a count says.
    STC_STATUS_COUNT = 5,
    // A header has a key twice, or an object of an open list has a key that it must not have there.
    STC_STATUS_DUPLICATE_COLUMN = 6,
    // Limit `depth`: containers nested too deep.
    STC_STATUS_DEPTH = 7,
    // Limit `input`: the document is too long.
    STC_STATUS_INPUT = 8,
    // Limit `output`: the result would be too long.
    STC_STATUS_OUTPUT = 9,
    // Limit `ratio`: the result would be too many times the size of the input.
    STC_STATUS_RATIO = 10,
    // Limit `columns`: a header or a shape has too many keys, or there are too many names.
    STC_STATUS_COLUMNS = 11,
    // Limit `header`: a header, the keys of all shapes, or the dictionary are too long.
    STC_STATUS_HEADER = 12,
    // A name is not defined at this place, or is defined already.
    STC_STATUS_NAME = 13,
    // A template names no column that could fill it.
    STC_STATUS_PLACEHOLDER = 14,
    // Limit `row`: a row with templates is too long.
    STC_STATUS_ROW = 15,
    // Limit `anchors`: the anchored values are too long.
    STC_STATUS_ANCHORS = 16,
    // A kind of rejection that this version of stc.h has no name for.
    STC_STATUS_OTHER = 17,
    // A defect of the encoder: the document was refused, and nothing wrong was found in it.
    STC_STATUS_DEFECT = 18,
    // A handle or an output is NULL, or input is NULL and its length is not 0.
    STC_STATUS_NULL_ARGUMENT = 32,
    // A length above PTRDIFF_MAX.
    STC_STATUS_LENGTH = 33,
    // A format that is none of stc_format.
    STC_STATUS_UNKNOWN_FORMAT = 34,
    // A defect of the library. The document is discarded, and the handle is ready for another.
    STC_STATUS_PANIC = 35,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum stc_status stc_status;
#else
typedef int32_t stc_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The formats that an encoder writes. A decoder reads all of them.
enum stc_format
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Minified JSON.
    STC_FORMAT_JSON = 0,
    // STC 1: one line, streams its output.
    STC_FORMAT_STC1 = 1,
    // STC 2, for large models and programs: rows are cells in the order of a header, and what repeats has a name. The default.
    STC_FORMAT_STC2 = 2,
    // STC 2 for small models: rows keep their keys.
    STC_FORMAT_STC2_LABELLED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum stc_format stc_format;
#else
typedef uint32_t stc_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A decoder: STC of any format or JSON in, minified JSON out. Reuse it: once its buffers are large enough, it allocates nothing.
typedef struct stc_decoder stc_decoder;

// An encoder: JSON in, STC out. Reuse it: once its buffers are large enough, it allocates nothing.
typedef struct stc_encoder stc_encoder;

// The answer to one HTTP request of an MCP client, in chunks. Texts of tool results that are JSON and become shorter change, and
// are marked; every other byte is the server's own.
typedef struct stc_mcp stc_mcp;

// Settings of a handle. stc_options_init writes the defaults; change what you need after it.
typedef struct stc_options {
    // A stc_format. A decoder reads every format, whichever is named here.
    uint32_t format;
    // STC 1: bytes of an array that a stream holds back at most; 0 is the default.
    uint64_t window;
    // Containers open at once.
    uint64_t depth;
    // Bytes of a document's input.
    uint64_t input;
    // Bytes of a document's output.
    uint64_t output;
    // Decoding: bytes of output for each byte of input.
    uint64_t ratio;
    // Decoding: bytes of output after which `ratio` applies.
    uint64_t ratio_after;
    // Keys of a header or a shape; names of a kind.
    uint64_t columns;
    // Bytes of a header, of the keys of all shapes, of the dictionary.
    uint64_t header;
    // Decoding: bytes of JSON of a row with templates.
    uint64_t row;
    // Bytes of JSON of all anchored values.
    uint64_t anchors;
} stc_options;

// What went wrong. A call that returns STC_STATUS_OK does not write it.
typedef struct stc_error {
    // What the call returned.
    stc_status status;
    // The offset of the offending byte in the document; the document's length if it ended too early.
    uint64_t offset;
    // The line of the offset, from 1; 0 in a stream, whose earlier chunks are gone.
    uint64_t line;
    // The column of the offset in characters, from 1; 0 in a stream.
    uint64_t column;
    // A sentence for people, which ends with a NUL.
    char message[160];
} stc_error;

// Bytes that belong to the library: valid until the next call with the handle that returned them. Not NUL-terminated.
typedef struct stc_bytes {
    // The first byte. Not NULL after STC_STATUS_OK, even if `len` is 0.
    const uint8_t *data;
    // The number of bytes.
    size_t len;
} stc_bytes;

// Bytes that belong to the caller until stc_buffer_free. Not NUL-terminated. Initialise it with zeros.
typedef struct stc_buffer {
    // The first byte; NULL in a buffer that was freed or never filled.
    uint8_t *data;
    // The number of bytes.
    size_t len;
    // Bytes of memory; for stc_buffer_free.
    size_t capacity;
} stc_buffer;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Creates a decoder; `options` may be NULL for the defaults. Returns NULL if the format is unknown.
struct stc_decoder *stc_decoder_new(const struct stc_options *options, struct stc_error *error);

// Frees a decoder and sets the variable to NULL, so that a second call does nothing. Copies of the pointer must not be used
// after it.
void stc_decoder_free(struct stc_decoder **decoder);

// Decodes a whole document. `out` is valid until the next call with this decoder, and empty after an error. A document begun
// with stc_decoder_push is discarded.
stc_status stc_decoder_decode(struct stc_decoder *decoder,
                              const uint8_t *text,
                              size_t len,
                              struct stc_bytes *out,
                              struct stc_error *error);

// Takes the next chunk of a document and returns what is certain so far: `out` is valid until the next call with this decoder.
// Every way to cut a document into chunks gives the same bytes and the same error.
stc_status stc_decoder_push(struct stc_decoder *decoder,
                            const uint8_t *chunk,
                            size_t len,
                            struct stc_bytes *out,
                            struct stc_error *error);

// Ends a document and returns the rest of it. The decoder is then ready for another.
stc_status stc_decoder_finish(struct stc_decoder *decoder, struct stc_bytes *out, struct stc_error *error);

// Discards a document that was begun and not finished; the memory is kept.
void stc_decoder_clear(struct stc_decoder *decoder);

// Creates an encoder; `options` may be NULL for the defaults. Returns NULL if the format is unknown.
struct stc_encoder *stc_encoder_new(const struct stc_options *options, struct stc_error *error);

// Frees an encoder and sets the variable to NULL, so that a second call does nothing. Copies of the pointer must not be used
// after it.
void stc_encoder_free(struct stc_encoder **encoder);

// Encodes a whole document. `out` is valid until the next call with this encoder, and empty after an error. A document begun
// with stc_encoder_push is discarded.
stc_status stc_encoder_encode(struct stc_encoder *encoder,
                              const uint8_t *json,
                              size_t len,
                              struct stc_bytes *out,
                              struct stc_error *error);

// Takes the next chunk of a document and returns what is certain so far: `out` is valid until the next call with this encoder.
// Every way to cut a document into chunks gives the same bytes and the same error.
stc_status stc_encoder_push(struct stc_encoder *encoder,
                            const uint8_t *chunk,
                            size_t len,
                            struct stc_bytes *out,
                            struct stc_error *error);

// Ends a document and returns the rest of it. The encoder is then ready for another.
stc_status stc_encoder_finish(struct stc_encoder *encoder, struct stc_bytes *out, struct stc_error *error);

// Discards a document that was begun and not finished; the memory is kept.
void stc_encoder_clear(struct stc_encoder *encoder);

// Begins the answer to `request`, the body that the client sent. `events` is not 0 for an answer of the type text/event-stream.
// Returns NULL if the format is unknown or JSON.
struct stc_mcp *stc_mcp_new(const uint8_t *request, size_t len, uint32_t format, uint32_t events, struct stc_error *error);

// Takes the next chunk of the answer and returns what can be sent: `out` is valid until the next call with this handle. A message
// is held until it is complete, an event until its blank line; what is longer than 8 MiB is returned unchanged.
stc_status stc_mcp_push(struct stc_mcp *mcp, const uint8_t *chunk, size_t len, struct stc_bytes *out, struct stc_error *error);

// Ends the answer and returns the rest of it.
stc_status stc_mcp_finish(struct stc_mcp *mcp, struct stc_bytes *out, struct stc_error *error);

// Frees a handle and sets the variable to NULL, so that a second call does nothing.
void stc_mcp_free(struct stc_mcp **mcp);

// Encodes a document in a format of stc_format, with the default limits. `out` belongs to the caller until stc_buffer_free;
// what it held before is not freed.
stc_status stc_encode(const uint8_t *json, size_t len, uint32_t format, struct stc_buffer *out, struct stc_error *error);

// Decodes STC of any format, or JSON, to minified JSON, with the default limits. `out` belongs to the caller until
// stc_buffer_free; what it held before is not freed.
stc_status stc_decode(const uint8_t *text, size_t len, struct stc_buffer *out, struct stc_error *error);

// Explains which form each array of objects gets in a format of STC 2, and what that saves: JSON, with the members of
// `stc explain --json`. `out` belongs to the caller until stc_buffer_free.
stc_status stc_explain(const uint8_t *json, size_t len, uint32_t format, struct stc_buffer *out, struct stc_error *error);

// Returns memory for `len` bytes, as input of a program that has no allocator of its own, as one around a WebAssembly module. It
// belongs to the caller until stc_buffer_free; the bytes are zeros. A length above PTRDIFF_MAX, or one that memory does not have,
// is an empty buffer.
struct stc_buffer stc_buffer_new(size_t len);

// Frees a buffer and leaves it empty, so that a second call does nothing.
void stc_buffer_free(struct stc_buffer *buffer);

// Returns the version of the library, as "0.1.0". It ends with a NUL and is never freed.
const char *stc_version(void);

// Returns the lines that explain a format of stc_format to a model. JSON needs none. An unknown format has NULL. They are never
// freed.
struct stc_bytes stc_legend(uint32_t format);

// Returns about how many tokens a text has; 0 if `text` is NULL or its length is invalid.
uint64_t stc_estimate_tokens(const uint8_t *text, size_t len);

// Returns the name of a status, as "Truncated", or "Other" for a number that is none. It ends with a NUL and is never freed.
const char *stc_status_name(int32_t status);

// Writes the defaults to `options`.
void stc_options_init(struct stc_options *options);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STC_H */
