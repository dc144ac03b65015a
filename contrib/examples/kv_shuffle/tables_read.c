/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum role { UNLISTED, NONE, SENDER, RECEIVER };

/* A PE in the round that is read. */
struct entry {
    enum role role;
    int partner;
    int line;  /* of its role */
    int count; /* of its block table */
    int *block;
};

struct reader {
    FILE *file;
    const char *name;
    int line, pes, blocks, rounds;
    uint64_t seed;
    int round; /* that is read; 0: none yet */
    struct entry *entry;
    struct kv_table *table; /* of each PE, simulated */
    int *listed;            /* [pes * blocks]: memory of the block tables */
    struct kv_tables *tables;
    char *message;
};

__attribute__((format(printf, 3, 4))) static int refuse(struct reader *r, int line,
                                                        const char *format, ...)
{
    int length = snprintf(r->message, KV_MESSAGE_BYTES, "%s:%d: ", r->name, line);
    va_list arguments;

    if (length < 0 || length >= KV_MESSAGE_BYTES)
        length = 0;
    va_start(arguments, format);
    vsnprintf(r->message + length, KV_MESSAGE_BYTES - (size_t)length, format, arguments);
    va_end(arguments);
    return -1;
}

/* The next word of the line; NULL: none. */
static char *next_word(char **rest)
{
    return strtok_r(NULL, " \t\r\n", rest);
}

static int read_number(struct reader *r, char **rest, const char *what, long max, long *number)
{
    const char *word = next_word(rest);
    char *end;

    *number = 0; /* defined for static analysis, which does not know that refuse() returns -1 */
    if (!word)
        return refuse(r, r->line, "the %s is missing: 0 to %ld is allowed", what, max);
    *number = strtol(word, &end, 10);
    if (end == word || *end || *number < 0 || *number > max)
        return refuse(r, r->line, "%s %.20s: 0 to %ld is allowed", what, word, max);
    return 0;
}

static int no_more(struct reader *r, char **rest)
{
    const char *word = next_word(rest);

    return word ? refuse(r, r->line, "%.20s: the line should end here", word) : 0;
}

/* "tables 1 pes N blocks N seed N": of the run that the tables are for. */
static int read_head(struct reader *r, char **rest)
{
    const long long want[] = {1, r->pes, r->blocks, (long long)r->seed};
    static const char *const names[] = {"version", "pes", "blocks", "seed"};

    for (int i = 0; i < 4; i++) {
        const char *word = i > 0 ? next_word(rest) : names[0];
        long number;

        if (!word || strcmp(word, names[i]) != 0)
            return refuse(r, r->line, "%.20s: the word %s is expected",
                          word ? word : "end of the line", names[i]);
        if (read_number(r, rest, names[i], 1L << 30, &number) != 0)
            return -1;
        if (number != want[i])
            return refuse(r, r->line, "%s %ld: this run has %lld", names[i], number, want[i]);
    }
    return no_more(r, rest);
}

static int read_role(struct reader *r, char **rest)
{
    static const char *const names[] = {
        [NONE] = "none", [SENDER] = "sender", [RECEIVER] = "receiver"};
    long pe, partner = -1;
    struct entry *entry;
    const char *word;

    if (read_number(r, rest, "PE", r->pes - 1, &pe) != 0)
        return -1;
    entry = &r->entry[pe];
    if (entry->role != UNLISTED)
        return refuse(r, r->line, "PE %ld: its role is in line %d already", pe, entry->line);
    word = next_word(rest);
    for (enum role role = NONE; role <= RECEIVER && word; role++)
        if (strcmp(word, names[role]) == 0)
            entry->role = role;
    if (entry->role == UNLISTED)
        return refuse(r, r->line, "role %.20s: sender, receiver or none is allowed",
                      word ? word : "missing");
    if (entry->role != NONE && read_number(r, rest, "partner", r->pes - 1, &partner) != 0)
        return -1;
    if (partner == pe)
        return refuse(r, r->line, "partner %ld: another PE than %ld itself is allowed", partner,
                      pe);
    entry->partner = (int)partner;
    entry->line = r->line;
    return no_more(r, rest);
}

static int read_blocks(struct reader *r, char **rest, enum role role)
{
    const char *what = role == SENDER ? "sender" : "receiver";
    struct entry *entry;
    long pe, block;

    if (read_number(r, rest, "PE", r->pes - 1, &pe) != 0)
        return -1;
    entry = &r->entry[pe];
    if (entry->role != role)
        return refuse(r, r->line, "PE %ld: a %s is allowed; its role comes first", pe, what);
    if (entry->count > 0)
        return refuse(r, r->line, "PE %ld: it has a block table already", pe);
    do {
        if (read_number(r, rest, "block", r->blocks - 1, &block) != 0)
            return -1;
        for (int i = 0; i < entry->count; i++)
            if (entry->block[i] == block)
                return refuse(r, r->line, "block %ld: it is listed twice", block);
        /* A free block has nothing to send, and a block in use must not be overwritten. */
        if ((r->table[pe].block[block].sequence != 0) != (role == SENDER))
            return refuse(r, r->line, "block %ld of PE %ld: it is %s in round %d", block, pe,
                          role == SENDER ? "free" : "in use", r->round);
        entry->block[entry->count++] = (int)block;
        *rest += strspn(*rest, " \t\r\n");
    } while (**rest);
    return 0;
}

static void add_moves(struct reader *r, int sender)
{
    const struct entry *from = &r->entry[sender], *to = &r->entry[from->partner];

    for (int i = 0; i < from->count; i++) {
        struct kv_block *source = &r->table[sender].block[from->block[i]];
        struct kv_block *target = &r->table[from->partner].block[to->block[i]];

        r->tables->move[r->tables->first[r->round]++] = (struct kv_move){
            sender, from->partner, source->sequence, source->index, from->block[i], to->block[i]};
        *target = *source;
        *source = (struct kv_block){0, 0};
    }
}

/* Compare the roles and tables of partners, and make the moves. */
static int end_round(struct reader *r)
{
    for (int pe = 0; pe < r->pes && r->round > 0; pe++) {
        const struct entry *mine = &r->entry[pe], *other;

        if (mine->role == UNLISTED)
            return refuse(r, r->line, "round %d ends here, and PE %d has no role", r->round, pe);
        if (mine->role == NONE)
            continue;
        other = &r->entry[mine->partner];
        if (other->role != (mine->role == SENDER ? RECEIVER : SENDER))
            return refuse(r, mine->line,
                          "PE %d and its partner %d: a sender and a receiver are allowed", pe,
                          mine->partner);
        if (other->partner != pe)
            return refuse(r, mine->line, "PE %d has the partner %d, whose partner is %d", pe,
                          mine->partner, other->partner);
        if (mine->count == 0 || mine->count != other->count)
            return refuse(
                r, mine->line,
                "PE %d lists %d blocks, and its partner %d: the same number from 1 on is allowed",
                pe, mine->count, other->count);
    }
    for (int pe = 0; pe < r->pes && r->round > 0; pe++)
        if (r->entry[pe].role == SENDER)
            add_moves(r, pe);
    return 0;
}

static int begin_round(struct reader *r, char **rest)
{
    struct kv_move *move;
    size_t room;
    long round;

    if (read_number(r, rest, "round", r->rounds, &round) != 0 || no_more(r, rest) != 0 ||
        end_round(r) != 0)
        return -1;
    if (round != r->round + 1)
        return refuse(r, r->line, "round %ld: %d is expected", round, r->round + 1);
    r->round++;
    r->tables->first[round] = r->tables->first[round - 1];
    room = (size_t)r->tables->first[round] + (size_t)r->pes * (size_t)r->blocks;
    move = realloc(r->tables->move, room * sizeof *move);
    if (!move)
        return refuse(r, r->line, "no memory for %zu moves", room);
    r->tables->move = move;
    for (int pe = 0; pe < r->pes; pe++) {
        r->entry[pe] = (struct entry){.block = &r->listed[(size_t)pe * (size_t)r->blocks]};
        kv_table_step(&r->table[pe], r->blocks, pe, r->pes, r->seed, round);
    }
    return 0;
}

static int read_line(struct reader *r, char *line, int *head)
{
    char *rest = NULL;
    const char *word = strtok_r(line, " \t\r\n", &rest);

    if (!word || word[0] == '#')
        return 0;
    if (!*head) {
        *head = 1;
        return strcmp(word, "tables") == 0 ? read_head(r, &rest)
                                           : refuse(r, r->line, "%.20s: tables is expected", word);
    }
    if (strcmp(word, "round") == 0)
        return begin_round(r, &rest);
    if (r->round > 0 && strcmp(word, "pe") == 0)
        return read_role(r, &rest);
    if (r->round > 0 && strcmp(word, "source") == 0)
        return read_blocks(r, &rest, SENDER);
    if (r->round > 0 && strcmp(word, "destination") == 0)
        return read_blocks(r, &rest, RECEIVER);
    return refuse(r, r->line, "%.20s: round%s is allowed", word,
                  r->round > 0 ? ", pe, source or destination" : "");
}

static int read_lines(struct reader *r)
{
    char *line = NULL;
    size_t bytes = 0;
    int status = 0, head = 0;

    while (status == 0 && getline(&line, &bytes, r->file) >= 0) {
        r->line++;
        status = read_line(r, line, &head);
    }
    free(line);
    if (status == 0 && ferror(r->file))
        status = refuse(r, r->line, "the file cannot be read");
    if (status == 0)
        status = end_round(r);
    if (status == 0 && r->round != r->rounds)
        status = refuse(r, r->line, "the file has %d rounds, and the run %d", r->round, r->rounds);
    return status;
}

int kv_tables_read(struct kv_tables *tables, FILE *file, const char *name, int pes, int blocks,
                   int rounds, uint64_t seed, char message[KV_MESSAGE_BYTES])
{
    struct reader r = {.file = file,
                       .name = name,
                       .pes = pes,
                       .blocks = blocks,
                       .rounds = rounds,
                       .seed = seed,
                       .tables = tables,
                       .message = message};
    int status;

    *tables = (struct kv_tables){.rounds = rounds};
    tables->first = calloc((size_t)rounds + 1, sizeof *tables->first);
    r.entry = calloc((size_t)pes, sizeof *r.entry);
    r.table = calloc((size_t)pes, sizeof *r.table);
    r.listed = calloc((size_t)pes * (size_t)blocks, sizeof *r.listed);
    if (tables->first && r.entry && r.table && r.listed)
        status = read_lines(&r);
    else
        status = refuse(&r, 0, "no memory for the tables of %d PEs", pes);
    free(r.listed);
    free(r.table);
    free(r.entry);
    if (status != 0)
        kv_tables_fini(tables);
    return status;
}
