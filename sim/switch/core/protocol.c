/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoder and decoder of the messages between gba-switchd and its clients. */
#include "sim/switch/core/protocol.h"

#include <ctype.h>
#include <string.h>

/* The fields that a type uses. */
enum {
    CODE = 1 << 0,
    TAG = 1 << 1,
    GROUP = 1 << 2,
    GENERATION = 1 << 3,
    MEMBER = 1 << 4,
    VALUE = 1 << 5,
    VALUE32 = 1 << 6, /* its value has 32 bits at most */
    KEY = 1 << 7,
    KEY32 = 1 << 8,
    FROM_CLIENT = 1 << 9,
    FROM_SERVER = 1 << 10
};

#define MAILBOX (CODE | TAG | GROUP | GENERATION | MEMBER | VALUE32 | KEY)

static const uint16_t fields_of[] = {
    [GBA_SWITCH_HELLO] = FROM_CLIENT | CODE | GROUP | GENERATION | MEMBER | VALUE,
    [GBA_SWITCH_SECRET] = FROM_CLIENT | VALUE | KEY,
    [GBA_SWITCH_NAME] = FROM_CLIENT | CODE | GROUP | GENERATION | MEMBER | VALUE | KEY,
    [GBA_SWITCH_WELCOME] = FROM_SERVER | CODE | TAG | GROUP | GENERATION | MEMBER | VALUE | KEY,
    [GBA_SWITCH_ARRIVE] = FROM_CLIENT | GROUP | VALUE,
    [GBA_SWITCH_RELEASE] = FROM_SERVER | GROUP | MEMBER | VALUE32 | KEY,
    [GBA_SWITCH_COMMAND] = FROM_CLIENT | MAILBOX,
    [GBA_SWITCH_RESULT] = FROM_SERVER | MAILBOX,
    [GBA_SWITCH_READ] = FROM_CLIENT | CODE | TAG | KEY32,
    [GBA_SWITCH_VALUE] = FROM_SERVER | CODE | TAG | KEY32 | VALUE,
    [GBA_SWITCH_WRITE] = FROM_CLIENT | CODE | KEY32 | VALUE,
    [GBA_SWITCH_EVENT] = FROM_SERVER | GROUP | GENERATION | VALUE32,
    [GBA_SWITCH_STATUS] = FROM_CLIENT | CODE | TAG | GROUP | VALUE32,
    [GBA_SWITCH_TEXT] = FROM_SERVER | MEMBER | VALUE32,
    [GBA_SWITCH_ERROR] = FROM_SERVER | CODE,
    [GBA_SWITCH_OWNER] = FROM_CLIENT | CODE | TAG | GROUP,
    [GBA_SWITCH_OWNED] = FROM_SERVER | MAILBOX | VALUE,
};
#define TYPES (sizeof(fields_of) / sizeof(fields_of[0]))

static void put(uint8_t *bytes, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

void gba_switch_encode(const struct gba_switch_message *message,
                       uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES])
{
    bytes[0] = message->type;
    bytes[1] = message->code;
    put(bytes + 2, 2, message->tag);
    put(bytes + 4, 4, message->group);
    put(bytes + 8, 4, message->generation);
    put(bytes + 12, 4, message->member);
    put(bytes + 16, 8, message->value);
    put(bytes + 24, 8, message->key);
}

/* Whether the message has no field that its type does not use. */
static bool fits(const struct gba_switch_message *message, unsigned fields)
{
    const uint64_t most_value = (fields & VALUE) != 0     ? UINT64_MAX
                                : (fields & VALUE32) != 0 ? UINT32_MAX
                                                          : 0;
    const uint64_t most_key = (fields & KEY) != 0     ? UINT64_MAX
                              : (fields & KEY32) != 0 ? UINT32_MAX
                                                      : 0;

    return ((fields & CODE) != 0 || message->code == 0) &&
           ((fields & TAG) != 0 || message->tag == 0) &&
           ((fields & GROUP) != 0 || message->group == 0) &&
           ((fields & GENERATION) != 0 || message->generation == 0) &&
           ((fields & MEMBER) != 0 || message->member == 0) && message->value <= most_value &&
           message->key <= most_key;
}

bool gba_switch_decode(const uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES], enum gba_switch_sender sender,
                       struct gba_switch_message *message)
{
    unsigned from = sender == GBA_SWITCH_CLIENT ? FROM_CLIENT : FROM_SERVER;

    message->type = bytes[0];
    message->code = bytes[1];
    message->tag = (uint16_t)get(bytes + 2, 2);
    message->group = (uint32_t)get(bytes + 4, 4);
    message->generation = (uint32_t)get(bytes + 8, 4);
    message->member = (uint32_t)get(bytes + 12, 4);
    message->value = get(bytes + 16, 8);
    message->key = get(bytes + 24, 8);
    if (message->type >= TYPES || (fields_of[message->type] & from) == 0)
        return false;
    return fits(message, fields_of[message->type]);
}

void gba_switch_secret_set(struct gba_switch_message *message,
                           const uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    *message = (struct gba_switch_message){
        .type = GBA_SWITCH_SECRET, .value = get(secret, 8), .key = get(secret + 8, 8)};
}

void gba_switch_secret_get(const struct gba_switch_message *message,
                           uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    put(secret, 8, message->value);
    put(secret + 8, 8, message->key);
}

bool gba_switch_secret_equal(const uint8_t a[GBA_SWITCH_SECRET_BYTES],
                             const uint8_t b[GBA_SWITCH_SECRET_BYTES])
{
    unsigned differ = 0;

    for (unsigned i = 0; i < GBA_SWITCH_SECRET_BYTES; i++)
        differ |= (unsigned)(a[i] ^ b[i]);
    return differ == 0;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool gba_switch_secret_parse(const char *text, uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    for (unsigned i = 0; i < GBA_SWITCH_SECRET_BYTES; i++) {
        int high = digit(text[2 * i]);
        int low = high < 0 ? -1 : digit(text[2 * i + 1]); /* do not read behind the end */

        if (low < 0)
            return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    text += 2 * GBA_SWITCH_SECRET_BYTES;
    return *text == '\0' || (*text == '\n' && text[1] == '\0');
}

void gba_switch_name_set(struct gba_switch_message *message, enum gba_switch_name kind,
                         const char *name)
{
    uint8_t text[GBA_SWITCH_NAME_BYTES] = {0};

    memcpy(text, name, strnlen(name, sizeof(text)));
    *message = (struct gba_switch_message){.type = GBA_SWITCH_NAME,
                                           .code = (uint8_t)kind,
                                           .group = (uint32_t)get(text, 4),
                                           .generation = (uint32_t)get(text + 4, 4),
                                           .member = (uint32_t)get(text + 8, 4),
                                           .value = get(text + 12, 8),
                                           .key = get(text + 20, 8)};
}

void gba_switch_name_get(const struct gba_switch_message *message,
                         char name[GBA_SWITCH_NAME_BYTES + 1])
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];
    unsigned length = 0;

    gba_switch_encode(message, bytes);
    for (; length < GBA_SWITCH_NAME_BYTES && bytes[4 + length] != 0; length++)
        name[length] =
            (char)(isascii(bytes[4 + length]) && isgraph(bytes[4 + length]) ? bytes[4 + length]
                                                                            : '?');
    name[length] = '\0';
}

const char *gba_switch_refusal_text(unsigned refusal)
{
    static const char *const texts[] = {
        [GBA_SWITCH_REFUSED_MESSAGE] = "invalid message",
        [GBA_SWITCH_REFUSED_VERSION] = "another version of the protocol",
        [GBA_SWITCH_REFUSED_USER] = "the user or group of the process may not use the switch",
        [GBA_SWITCH_REFUSED_SECRET] = "wrong key",
        [GBA_SWITCH_REFUSED_PORTS] = "all ports are in use",
        [GBA_SWITCH_REFUSED_SLOW] = "the client does not read what the switch sends",
        [GBA_SWITCH_REFUSED_SHUTDOWN] = "the switch stops",
        [GBA_SWITCH_REFUSED_IDLE] = "no greeting in time",
        [GBA_SWITCH_REFUSED_QUOTA] = "the user or the job uses as many ports as it may",
    };

    if (refusal >= sizeof(texts) / sizeof(texts[0]) || texts[refusal] == NULL)
        return "unknown reason";
    return texts[refusal];
}
