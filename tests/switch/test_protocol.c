/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of gba-switchd: their bytes, messages that the decoder refuses, keys and names. */

#include "sim/switch/core/protocol.h"
#include "tests/suite.h"

/* A message in which all fields that its type uses have their highest value. */
static struct gba_switch_message full(uint8_t type)
{
    struct gba_switch_message message = {.type = type};
    const struct gba_switch_message all = {.type = type,
                                           .code = UINT8_MAX,
                                           .tag = UINT16_MAX,
                                           .group = UINT32_MAX,
                                           .generation = UINT32_MAX,
                                           .member = UINT32_MAX,
                                           .value = UINT32_MAX,
                                           .key = UINT32_MAX};

    switch (type) {
    case GBA_SWITCH_ARRIVE:
        message.group = UINT32_MAX;
        message.value = UINT64_MAX;
        break;
    case GBA_SWITCH_READ:
        message.code = UINT8_MAX;
        message.tag = UINT16_MAX;
        message.key = UINT32_MAX;
        break;
    default:
        message = all;
    }
    return message;
}

TEST(test_layout)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_COMMAND,
                                               .code = 0x02,
                                               .tag = 0x0403,
                                               .group = 0x08070605,
                                               .generation = 0x0c0b0a09,
                                               .member = 0x100f0e0d,
                                               .value = 0x14131211,
                                               .key = 0x201f1e1d1c1b1a19};
    const uint8_t expected[GBA_SWITCH_MESSAGE_BYTES] = {
        7,    0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
        0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0,    0,
        0,    0,    0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20};
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];
    struct gba_switch_message decoded;

    gba_switch_encode(&message, bytes);
    assert_memory_equal(bytes, expected, sizeof(bytes));
    assert_true(gba_switch_decode(bytes, GBA_SWITCH_CLIENT, &decoded));
    assert_int_equal(decoded.code, message.code);
    assert_int_equal(decoded.tag, message.tag);
    assert_int_equal(decoded.group, message.group);
    assert_int_equal(decoded.generation, message.generation);
    assert_int_equal(decoded.member, message.member);
    assert_int_equal(decoded.value, message.value);
    assert_int_equal(decoded.key, message.key);
}

static bool takes(struct gba_switch_message message, enum gba_switch_sender sender)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(&message, bytes);
    return gba_switch_decode(bytes, sender, &message);
}

TEST(test_sender)
{
    static const uint8_t of_client[] = {GBA_SWITCH_HELLO,  GBA_SWITCH_SECRET,  GBA_SWITCH_NAME,
                                        GBA_SWITCH_ARRIVE, GBA_SWITCH_COMMAND, GBA_SWITCH_READ,
                                        GBA_SWITCH_WRITE,  GBA_SWITCH_STATUS,  GBA_SWITCH_OWNER};

    for (unsigned type = 0; type < 256; type++) {
        const struct gba_switch_message message = {.type = (uint8_t)type};
        bool client = memchr(of_client, (int)type, sizeof(of_client)) != NULL;
        bool known = type >= GBA_SWITCH_HELLO && type <= GBA_SWITCH_OWNED;

        assert_int_equal(takes(message, GBA_SWITCH_CLIENT), client);
        assert_int_equal(takes(message, GBA_SWITCH_SERVER), known && !client);
    }
}

TEST(test_unused_fields)
{
    struct gba_switch_message message;

    assert_true(takes(full(GBA_SWITCH_ARRIVE), GBA_SWITCH_CLIENT));
    message = full(GBA_SWITCH_ARRIVE);
    message.code = 1;
    assert_false(takes(message, GBA_SWITCH_CLIENT));
    message = full(GBA_SWITCH_ARRIVE);
    message.tag = 1;
    assert_false(takes(message, GBA_SWITCH_CLIENT));
    message = full(GBA_SWITCH_ARRIVE);
    message.key = 1;
    assert_false(takes(message, GBA_SWITCH_CLIENT));
    message = full(GBA_SWITCH_ARRIVE);
    message.member = 1;
    assert_false(takes(message, GBA_SWITCH_CLIENT));

    assert_true(takes(full(GBA_SWITCH_READ), GBA_SWITCH_CLIENT));
    message = full(GBA_SWITCH_READ);
    message.key = 1ull << 32;
    assert_false(takes(message, GBA_SWITCH_CLIENT));
    message = full(GBA_SWITCH_READ);
    message.group = 1;
    assert_false(takes(message, GBA_SWITCH_CLIENT));
    message = full(GBA_SWITCH_READ);
    message.member = 1;
    assert_false(takes(message, GBA_SWITCH_CLIENT));
}

TEST(test_secret)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES], other[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message message;

    assert_true(gba_switch_secret_parse("00112233445566778899aAbBcCdDeEfF", secret));
    assert_int_equal(secret[1], 0x11);
    assert_int_equal(secret[15], 0xff);
    assert_true(gba_switch_secret_parse("00112233445566778899aAbBcCdDeEfF\n", other));
    assert_true(gba_switch_secret_equal(secret, other));
    gba_switch_secret_set(&message, secret);
    memset(other, 0, sizeof(other));
    gba_switch_secret_get(&message, other);
    assert_memory_equal(secret, other, sizeof(secret));
    for (unsigned i = 0; i < sizeof(other); i++) {
        other[i] ^= 0x80;
        assert_false(gba_switch_secret_equal(secret, other));
        other[i] ^= 0x80;
    }
    assert_false(gba_switch_secret_parse("", secret));
    assert_false(gba_switch_secret_parse("00112233445566778899aabbccddeef", secret));
    assert_false(gba_switch_secret_parse("00112233445566778899aabbccddeeff0", secret));
    assert_false(gba_switch_secret_parse("00112233445566778899aabbccddeeff\n\n", secret));
    assert_false(gba_switch_secret_parse("0x112233445566778899aabbccddeeff", secret));
    assert_false(gba_switch_secret_parse(" 0112233445566778899aabbccddeeff", secret));
}

TEST(test_name)
{
    static const char longest[] = "0123456789012345678901234567";
    char name[GBA_SWITCH_NAME_BYTES + 1];
    struct gba_switch_message message;

    gba_switch_name_set(&message, GBA_SWITCH_NAME_HOST, "node7");
    assert_true(takes(message, GBA_SWITCH_CLIENT));
    gba_switch_name_get(&message, name);
    assert_string_equal(name, "node7");
    assert_int_equal(message.code, GBA_SWITCH_NAME_HOST);
    gba_switch_name_set(&message, GBA_SWITCH_NAME_JOB, "slurm:12");
    assert_true(takes(message, GBA_SWITCH_CLIENT));
    assert_int_equal(message.code, GBA_SWITCH_NAME_JOB);
    gba_switch_name_set(&message, GBA_SWITCH_NAME_HOST, "0123456789012345678901234567and more");
    gba_switch_name_get(&message, name);
    assert_string_equal(name, longest);
    /* The name is printed in logs and terminals. */
    gba_switch_name_set(&message, GBA_SWITCH_NAME_HOST, "a\x1b[2Jb\n\xff c");
    gba_switch_name_get(&message, name);
    assert_string_equal(name, "a?[2Jb???c");
}

TEST(test_refusal_text)
{
    for (unsigned refusal = 0; refusal < 300; refusal++)
        assert_true(strlen(gba_switch_refusal_text(refusal)) > 4);
    assert_string_equal(gba_switch_refusal_text(GBA_SWITCH_REFUSED_SECRET), "wrong key");
}

TEST_MAIN()
