#include <stc.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *json = "[{\"id\":1,\"state\":\"open\"},{\"id\":2,\"state\":\"open\"},{\"id\":3,\"state\":\"open\"}]";
    stc_encoder *encoder = stc_encoder_new(NULL, NULL); // the defaults: STC 2; reuse it for every document
    stc_bytes text;
    stc_error error;
    if (stc_encoder_encode(encoder, (const uint8_t *)json, strlen(json), &text, &error) != STC_STATUS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    fwrite(text.data, 1, text.len, stdout);
    stc_encoder_free(&encoder);
    return 0;
}
