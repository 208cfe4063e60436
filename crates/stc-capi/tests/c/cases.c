// Runs the lines of scripts/bindings/cases through the C ABI: with one handle for all of them, in chunks, and in one-shot calls.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stc.h"

static const char *FORMATS[] = {"json", "stc1", "stc2", "stc2-labelled"};
enum { FORMAT_COUNT = 4 };

struct text {
    uint8_t *data;
    size_t len, capacity;
};

static void append(struct text *text, stc_bytes more) {
    if (text->len + more.len > text->capacity) {
        text->capacity = 2 * (text->len + more.len);
        text->data = realloc(text->data, text->capacity);
        if (text->data == NULL) abort();
    }
    if (more.len != 0) memcpy(text->data + text->len, more.data, more.len);
    text->len += more.len;
}

// Reads hexadecimal digits into memory of exactly their size, so that valgrind and ASan notice a read past the end.
static uint8_t *from_hex(const char *hex, size_t *len) {
    *len = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    uint8_t *bytes = malloc(*len == 0 ? 1 : *len);
    for (size_t at = 0; at < *len; at++) {
        unsigned value;
        if (sscanf(hex + 2 * at, "%2x", &value) != 1) abort();
        bytes[at] = (uint8_t)value;
    }
    return bytes;
}

static unsigned format_named(const char *name) {
    for (unsigned format = 0; format < FORMAT_COUNT; format++)
        if (strcmp(FORMATS[format], name) == 0) return format;
    return STC_FORMAT_STC2;
}

struct outcome {
    stc_status status;
    uint64_t offset;
    struct text out;
};

static stc_encoder *encoders[FORMAT_COUNT];
static stc_decoder *decoder;

static struct outcome whole(int encodes, unsigned format, const uint8_t *in, size_t len) {
    struct outcome result = {0};
    stc_bytes out;
    stc_error error = {0};
    result.status = encodes ? stc_encoder_encode(encoders[format], in, len, &out, &error)
                            : stc_decoder_decode(decoder, in, len, &out, &error);
    append(&result.out, out);
    result.offset = error.offset;
    return result;
}

static struct outcome chunks(int encodes, unsigned format, const uint8_t *in, size_t len, size_t size) {
    struct outcome result = {0};
    stc_bytes out;
    stc_error error = {0};
    for (size_t at = 0; at < len && result.status == STC_STATUS_OK; at += size) {
        size_t taken = len - at < size ? len - at : size;
        // A copy in memory of its own size: the library must not keep or read beyond what a call was given.
        uint8_t *chunk = malloc(taken);
        memcpy(chunk, in + at, taken);
        result.status = encodes ? stc_encoder_push(encoders[format], chunk, taken, &out, &error)
                                : stc_decoder_push(decoder, chunk, taken, &out, &error);
        append(&result.out, out);
        free(chunk);
    }
    if (result.status == STC_STATUS_OK) {
        result.status = encodes ? stc_encoder_finish(encoders[format], &out, &error) : stc_decoder_finish(decoder, &out, &error);
        append(&result.out, out);
    }
    result.offset = error.offset;
    return result;
}

static struct outcome once(int encodes, unsigned format, const uint8_t *in, size_t len) {
    struct outcome result = {0};
    stc_buffer out;
    stc_error error = {0};
    result.status = encodes ? stc_encode(in, len, format, &out, &error) : stc_decode(in, len, &out, &error);
    append(&result.out, (stc_bytes){out.data, out.len});
    result.offset = error.offset;
    stc_buffer_free(&out);
    return result;
}

// Compares an outcome with the expected one and frees it.
static int is_right(struct outcome *result, int rejects, uint64_t offset, const uint8_t *expected, size_t expected_len) {
    int right = rejects ? result->status != STC_STATUS_OK && result->status < STC_STATUS_NULL_ARGUMENT && result->offset == offset
                        : result->status == STC_STATUS_OK && result->out.len == expected_len &&
                              (expected_len == 0 || memcmp(result->out.data, expected, expected_len) == 0);
    free(result->out.data);
    return right;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: cases FILE\n");
        return 2;
    }
    for (unsigned format = 0; format < FORMAT_COUNT; format++) {
        stc_options options;
        stc_options_init(&options);
        options.format = format;
        encoders[format] = stc_encoder_new(&options, NULL);
    }
    decoder = stc_decoder_new(NULL, NULL);

    char *line = NULL;
    size_t room = 0, passed = 0, failed = 0;
    while (getline(&line, &room, file) > 0) {
        char *kind = strtok(line, " \n"), *format_name = strtok(NULL, " \n"), *name = strtok(NULL, " \n");
        char *input = strtok(NULL, " \n"), *answer = strtok(NULL, " \n");
        if (answer == NULL) abort();
        int rejects = strncmp(kind, "no-", 3) == 0;
        int encodes = strstr(kind, "encode") != NULL;
        unsigned format = format_named(format_name);
        size_t len, expected_len = 0;
        uint8_t *in = from_hex(input, &len), *expected = rejects ? NULL : from_hex(answer, &expected_len);
        uint64_t offset = rejects ? strtoull(answer, NULL, 10) : 0;

        struct outcome outcomes[] = {
            whole(encodes, format, in, len),
            chunks(encodes, format, in, len, 1 + len / 3),
            chunks(encodes, format, in, len, len < 4096 ? 1 : 4096),
            once(encodes, format, in, len),
        };
        int right = 1;
        for (size_t way = 0; way < sizeof outcomes / sizeof *outcomes; way++)
            if (!is_right(&outcomes[way], rejects, offset, expected, expected_len)) {
                fprintf(stderr, "%s %s %s: wrong, way %zu\n", kind, format_name, name, way);
                right = 0;
            }
        passed += right;
        failed += !right;
        free(in);
        free(expected);
    }
    free(line);
    fclose(file);
    for (unsigned format = 0; format < FORMAT_COUNT; format++) stc_encoder_free(&encoders[format]);
    stc_decoder_free(&decoder);
    printf("c: %zu cases passed, each whole, in chunks and in one call\n", passed);
    return failed != 0 || passed == 0;
}
