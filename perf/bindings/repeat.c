// repeat FILE TIMES: encodes a document with one handle. For counting instructions.
#include <stc.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) return 2;
    static uint8_t json[1 << 24];
    size_t len = fread(json, 1, sizeof json, file);
    stc_encoder *encoder = stc_encoder_new(NULL, NULL);
    size_t written = 0;
    for (int times = atoi(argv[2]); times > 0; times--) {
        stc_bytes text;
        if (stc_encoder_encode(encoder, json, len, &text, NULL) != STC_STATUS_OK) return 1;
        written += text.len;
    }
    printf("%zu\n", written);
    stc_encoder_free(&encoder);
    return 0;
}
