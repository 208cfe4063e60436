// The contract of stc.h: NULL, lengths, use after errors, freeing twice, limits, messages. Run under valgrind and AddressSanitizer.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stc.h"

static int checks;

#define CHECK(condition)                                                       \
    do {                                                                       \
        checks++;                                                              \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define BYTES(text) (const uint8_t *)(text), strlen(text)

static int equal(stc_bytes bytes, const char *text) {
    return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

static void null_arguments(void) {
    stc_encoder *encoder = stc_encoder_new(NULL, NULL);
    stc_decoder *decoder = stc_decoder_new(NULL, NULL);
    stc_bytes out;
    stc_buffer buffer;
    stc_error error;
    CHECK(encoder != NULL && decoder != NULL);

    // Handles and outputs; with and without a place for the error.
    CHECK(stc_encoder_encode(NULL, BYTES("1"), &out, &error) == STC_STATUS_NULL_ARGUMENT && out.len == 0);
    CHECK(error.status == STC_STATUS_NULL_ARGUMENT && strlen(error.message) > 0);
    CHECK(stc_encoder_encode(encoder, BYTES("1"), NULL, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_encoder_push(NULL, BYTES("1"), &out, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_encoder_push(encoder, BYTES("1"), NULL, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_encoder_finish(NULL, &out, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_encoder_finish(encoder, NULL, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_decoder_decode(NULL, BYTES("1"), &out, &error) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_decoder_decode(decoder, BYTES("1"), NULL, &error) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_decoder_push(NULL, BYTES("1"), &out, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_decoder_push(decoder, BYTES("1"), NULL, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_decoder_finish(NULL, &out, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_encode(BYTES("1"), STC_FORMAT_STC2, NULL, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_decode(BYTES("1"), NULL, &error) == STC_STATUS_NULL_ARGUMENT);
    stc_encoder_clear(NULL);
    stc_decoder_clear(NULL);
    stc_encoder_free(NULL);
    stc_decoder_free(NULL);
    stc_buffer_free(NULL);
    stc_options_init(NULL);

    // Input: NULL is empty, unless it has a length. An empty document is truncated, not a NULL argument.
    CHECK(stc_encoder_encode(encoder, NULL, 0, &out, &error) == STC_STATUS_TRUNCATED && error.offset == 0);
    CHECK(stc_encoder_encode(encoder, NULL, 1, &out, &error) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_encoder_push(encoder, NULL, 0, &out, &error) == STC_STATUS_OK && out.len == 0);
    CHECK(stc_decode(NULL, 7, &buffer, &error) == STC_STATUS_NULL_ARGUMENT && buffer.data == NULL);
    CHECK(stc_estimate_tokens(NULL, 5) == 0 && stc_estimate_tokens(NULL, 0) == 0);

    stc_encoder_free(&encoder);
    stc_decoder_free(&decoder);
}

static void lengths(void) {
    stc_encoder *encoder = stc_encoder_new(NULL, NULL);
    stc_decoder *decoder = stc_decoder_new(NULL, NULL);
    stc_bytes out;
    stc_buffer buffer;
    const size_t too_long[] = {SIZE_MAX, (size_t)PTRDIFF_MAX + 1};
    for (int at = 0; at < 2; at++) {
        CHECK(stc_encoder_encode(encoder, (const uint8_t *)"1", too_long[at], &out, NULL) == STC_STATUS_LENGTH);
        CHECK(stc_encoder_push(encoder, (const uint8_t *)"1", too_long[at], &out, NULL) == STC_STATUS_LENGTH);
        CHECK(stc_decoder_decode(decoder, (const uint8_t *)"1", too_long[at], &out, NULL) == STC_STATUS_LENGTH);
        CHECK(stc_decoder_push(decoder, NULL, too_long[at], &out, NULL) == STC_STATUS_LENGTH);
        CHECK(stc_encode((const uint8_t *)"1", too_long[at], STC_FORMAT_STC1, &buffer, NULL) == STC_STATUS_LENGTH);
        CHECK(stc_decode((const uint8_t *)"1", too_long[at], &buffer, NULL) == STC_STATUS_LENGTH);
        CHECK(stc_estimate_tokens((const uint8_t *)"1", too_long[at]) == 0);
    }
    stc_encoder_free(&encoder);
    stc_decoder_free(&decoder);
}

static void errors(void) {
    stc_options options;
    stc_options_init(&options);
    options.format = STC_FORMAT_STC1;
    stc_encoder *encoder = stc_encoder_new(&options, NULL);
    stc_bytes out;
    stc_error error;
    const char *document = "{\n  \"a\": [1, 2,]\n}";
    CHECK(stc_encoder_encode(encoder, BYTES(document), &out, &error) == STC_STATUS_SYNTAX);
    CHECK(error.status == STC_STATUS_SYNTAX && error.offset == 15 && error.line == 2 && error.column == 14);
    CHECK(strcmp(error.message, "expected a value at byte 15") == 0);
    CHECK(strcmp(stc_status_name(error.status), "Syntax") == 0);

    // Use after an error: the handle is ready for another document, whole or in chunks.
    CHECK(stc_encoder_encode(encoder, BYTES("{\"a\": [1, 2]}"), &out, NULL) == STC_STATUS_OK && equal(out, "{a[2]: 1,2}"));
    CHECK(stc_encoder_push(encoder, BYTES("{\"a\": "), &out, NULL) == STC_STATUS_OK);
    uint8_t braces[200];
    memset(braces, '}', sizeof braces);
    stc_status status = stc_encoder_push(encoder, braces, sizeof braces, &out, &error);
    CHECK(status == STC_STATUS_SYNTAX && error.offset == 6 && error.line == 0 && error.column == 0);
    CHECK(stc_encoder_finish(encoder, &out, &error) == STC_STATUS_TRUNCATED && error.offset == 0);
    CHECK(stc_encoder_push(encoder, BYTES("[1"), &out, NULL) == STC_STATUS_OK);
    stc_encoder_clear(encoder);
    CHECK(stc_encoder_push(encoder, BYTES("7"), &out, NULL) == STC_STATUS_OK);
    CHECK(stc_encoder_finish(encoder, &out, NULL) == STC_STATUS_OK && equal(out, "7"));
    stc_encoder_free(&encoder);
    CHECK(encoder == NULL);

    stc_decoder *decoder = stc_decoder_new(NULL, NULL);
    CHECK(stc_decoder_decode(decoder, BYTES("{a[3]: 1,2}"), &out, &error) == STC_STATUS_COUNT && out.len == 0);
    CHECK(stc_decoder_push(decoder, BYTES("{a[2]: "), &out, NULL) == STC_STATUS_OK);
    stc_decoder_clear(decoder);
    CHECK(stc_decoder_decode(decoder, BYTES("{a[2]: 1,2}"), &out, &error) == STC_STATUS_OK && equal(out, "{\"a\":[1,2]}"));
    stc_decoder_free(&decoder);

    // Unknown formats, of options and of a call.
    options.format = 77;
    CHECK(stc_encoder_new(&options, &error) == NULL && error.status == STC_STATUS_UNKNOWN_FORMAT);
    CHECK(stc_decoder_new(&options, NULL) == NULL);
    stc_buffer buffer;
    CHECK(stc_encode(BYTES("1"), 5, &buffer, NULL) == STC_STATUS_UNKNOWN_FORMAT && buffer.data == NULL);
    CHECK(stc_legend(5).data == NULL);
    CHECK(strcmp(stc_status_name(-1), "Other") == 0);
}

static void freed_twice(void) {
    stc_encoder *encoder = stc_encoder_new(NULL, NULL);
    stc_encoder_free(&encoder);
    stc_encoder_free(&encoder);
    stc_bytes out;
    CHECK(encoder == NULL && stc_encoder_encode(encoder, BYTES("1"), &out, NULL) == STC_STATUS_NULL_ARGUMENT);
    stc_decoder *decoder = stc_decoder_new(NULL, NULL);
    stc_decoder_free(&decoder);
    stc_decoder_free(&decoder);
    CHECK(decoder == NULL);
    stc_buffer buffer;
    CHECK(stc_encode(BYTES("[1, 2, 3]"), STC_FORMAT_JSON, &buffer, NULL) == STC_STATUS_OK);
    CHECK(buffer.len == 7 && memcmp(buffer.data, "[1,2,3]", 7) == 0);
    stc_buffer_free(&buffer);
    stc_buffer_free(&buffer);
    CHECK(buffer.data == NULL && buffer.len == 0);
    stc_buffer never = {0};
    stc_buffer_free(&never);
}

static void limits(void) {
    stc_options options;
    stc_options_init(&options);
    options.depth = 3;
    options.input = 20;
    stc_decoder *decoder = stc_decoder_new(&options, NULL);
    stc_bytes out;
    stc_error error;
    CHECK(stc_decoder_decode(decoder, BYTES("[[[[1]]]]"), &out, &error) == STC_STATUS_DEPTH && error.offset == 3);
    CHECK(stc_decoder_decode(decoder, BYTES("[1,1,1,1,1,1,1,1,1,1,1,1]"), &out, &error) == STC_STATUS_INPUT && error.offset == 20);
    CHECK(stc_decoder_decode(decoder, BYTES("[[[1]]]"), &out, &error) == STC_STATUS_OK);
    stc_decoder_free(&decoder);

    // A small text that decodes to a large document.
    stc_options_init(&options);
    options.output = 1000;
    decoder = stc_decoder_new(&options, NULL);
    CHECK(stc_decoder_decode(decoder, BYTES("[9999]{*,a=\"0123456789012345678901234567890123456789\"}:\n{}\n"), &out, &error) ==
          STC_STATUS_TRUNCATED);
    options.output = UINT64_MAX;
    stc_decoder_free(&decoder);

    // Deep input: no recursion, so the stack does not overflow.
    options.depth = UINT64_MAX;
    decoder = stc_decoder_new(&options, NULL);
    size_t deep = 1 << 20;
    uint8_t *brackets = malloc(deep);
    memset(brackets, '[', deep);
    CHECK(stc_decoder_decode(decoder, brackets, deep, &out, &error) == STC_STATUS_TRUNCATED && error.offset == deep);
    stc_encoder *encoder = stc_encoder_new(NULL, NULL);
    CHECK(stc_encoder_encode(encoder, brackets, deep, &out, &error) == STC_STATUS_DEPTH && error.offset == 512);
    free(brackets);
    stc_encoder_free(&encoder);
    stc_decoder_free(&decoder);
}

// Rows as a text inside a message, and the request that the message answers.
#define ROWS "[{\\\"id\\\": 1, \\\"state\\\": \\\"open\\\", \\\"by\\\": \\\"ann\\\"}, {\\\"id\\\": 2, \\\"state\\\": \\\"open\\\", \\\"by\\\": \\\"ann\\\"}, " \
             "{\\\"id\\\": 3, \\\"state\\\": \\\"open\\\", \\\"by\\\": \\\"ann\\\"}, {\\\"id\\\": 4, \\\"state\\\": \\\"open\\\", \\\"by\\\": \\\"ann\\\"}]"
#define MESSAGE "{ \"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" ROWS "\"}]}}"
#define REQUEST "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"rows\"}}"
#define MARK ",\"_meta\":{\"io.stoa/stc\":{\"format\":\"stc2\"}}}]}}"

static void mcp_answers(void) {
    stc_bytes out;
    stc_error error;
    stc_mcp *mcp = stc_mcp_new(BYTES(REQUEST), STC_FORMAT_STC2, 0, NULL);
    // In chunks of one byte: nothing is returned before the end.
    for (size_t at = 0; at < sizeof MESSAGE - 1; at++)
        CHECK(stc_mcp_push(mcp, (const uint8_t *)MESSAGE + at, 1, &out, NULL) == STC_STATUS_OK && out.len == 0);
    CHECK(stc_mcp_finish(mcp, &out, NULL) == STC_STATUS_OK && out.len < sizeof MESSAGE - 1);
    CHECK(memcmp(out.data + out.len - (sizeof MARK - 1), MARK, sizeof MARK - 1) == 0 && memcmp(out.data, MESSAGE, 60) == 0);
    stc_mcp_free(&mcp);
    CHECK(mcp == NULL);
    stc_mcp_free(&mcp);
    stc_mcp_free(NULL);

    mcp = stc_mcp_new(BYTES(REQUEST), STC_FORMAT_STC2, 1, NULL);
    CHECK(stc_mcp_push(mcp, BYTES(": alive\n\ndata: " MESSAGE "\n"), &out, NULL) == STC_STATUS_OK);
    CHECK(out.len == 9 && memcmp(out.data, ": alive\n\n", 9) == 0);
    CHECK(stc_mcp_push(mcp, BYTES("\ndata: {"), &out, NULL) == STC_STATUS_OK && memcmp(out.data, "data: { \"jsonrpc\"", 17) == 0);
    CHECK(memcmp(out.data + out.len - 2, "\n\n", 2) == 0 && out.len < sizeof MESSAGE);
    CHECK(stc_mcp_finish(mcp, &out, NULL) == STC_STATUS_OK && out.len == 7);
    stc_mcp_free(&mcp);

    // What is not JSON, or an answer to no request, is returned as it is.
    mcp = stc_mcp_new(NULL, 0, STC_FORMAT_STC1, 0, NULL);
    CHECK(stc_mcp_push(mcp, BYTES("{\"id\":"), &out, NULL) == STC_STATUS_OK);
    CHECK(stc_mcp_finish(mcp, &out, NULL) == STC_STATUS_OK && out.len == 6 && memcmp(out.data, "{\"id\":", 6) == 0);
    CHECK(stc_mcp_push(mcp, NULL, 1, &out, &error) == STC_STATUS_NULL_ARGUMENT && error.status == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_mcp_push(mcp, BYTES("x"), NULL, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_mcp_push(mcp, (const uint8_t *)"x", SIZE_MAX, &out, NULL) == STC_STATUS_LENGTH);
    stc_mcp_free(&mcp);
    CHECK(stc_mcp_push(NULL, BYTES("x"), &out, NULL) == STC_STATUS_NULL_ARGUMENT && out.len == 0);
    CHECK(stc_mcp_finish(NULL, &out, NULL) == STC_STATUS_NULL_ARGUMENT);
    CHECK(stc_mcp_new(NULL, 0, STC_FORMAT_JSON, 0, &error) == NULL && error.status == STC_STATUS_UNKNOWN_FORMAT);
    CHECK(stc_mcp_new(NULL, 1, STC_FORMAT_STC2, 0, &error) == NULL && error.status == STC_STATUS_NULL_ARGUMENT);
}

static void texts(void) {
    CHECK(strcmp(stc_version(), VERSION) == 0);
    stc_bytes legend = stc_legend(STC_FORMAT_STC2);
    CHECK(legend.len > 100 && memcmp(legend.data, "STC 2", 5) == 0);
    CHECK(stc_legend(STC_FORMAT_JSON).len == 0);
    stc_buffer buffer;
    CHECK(stc_explain(BYTES("[{\"a\":1},{\"a\":2},{\"a\":3}]"), STC_FORMAT_STC2, &buffer, NULL) == STC_STATUS_OK);
    CHECK(buffer.len > 50 && memcmp(buffer.data, "{\"json\":{\"bytes\":25", 19) == 0);
    stc_buffer_free(&buffer);
    stc_error error;
    CHECK(stc_explain(BYTES("[1"), STC_FORMAT_STC2, &buffer, &error) == STC_STATUS_TRUNCATED && error.offset == 2);
    CHECK(stc_explain(BYTES("[1]"), 9, &buffer, NULL) == STC_STATUS_UNKNOWN_FORMAT && buffer.data == NULL);
    buffer = stc_buffer_new(3);
    CHECK(buffer.len == 3 && buffer.data[0] == 0 && buffer.data[2] == 0);
    stc_buffer_free(&buffer);
    CHECK(stc_buffer_new(SIZE_MAX).data == NULL);
    CHECK(stc_estimate_tokens(BYTES("{\"state\":\"open\"}")) > 3);
}

int main(void) {
    null_arguments();
    lengths();
    errors();
    freed_twice();
    limits();
    mcp_answers();
    texts();
    printf("c: %d checks of the contract passed\n", checks);
    return 0;
}
