// SPDX-License-Identifier: BSD-3-Clause
// The release walker makes the release stores of the groups, one group after the other: one member a cycle, or with
// multicast one word of the mask a cycle. It waits for no port: a store that its port does not take stays due, and is
// offered again in the group's next pass. [REL-2, REL-3, REL-4, TAB-3, PORT-6]
module gba_walker #(
    parameter GROUPS = 32,
    parameter GI = 5, // bits of a group's number
    parameter WORD = 64,
    parameter WORDS = 12
) (
    input wire clk,
    input wire rst,
    input wire multicast,
    input wire pause, // only the first passes of groups begin
    // A group that is not busy has stores: a round has completed, or one member is released again.
    input wire start,
    input wire [GI-1:0] start_group,
    input wire start_one,
    input wire [9:0] start_member,
    input wire [31:0] start_sequence,
    input wire [WORDS-1:0] start_words, // words of the mask
    output reg [GROUPS-1:0] busy, // from then on, until the `retire` of `drained`
    output wire settled, // no pass is under way, and no first pass is due
    // A first pass or the last one has ended: the number of the group's stores after the first pass, else 0.
    output reg done,
    output reg drained, // no store of the group is due
    output reg of_round, // the stores were those of a round
    output reg [GI-1:0] done_group,
    output reg [9:0] releases,
    input wire retire,
    // The word of the members with addresses and the entry of the table of `group`, a cycle after they are read.
    output wire word_re,
    output wire [3:0] word,
    input wire [WORD-1:0] mapped,
    output wire entry_re,
    output wire [9:0] entry,
    // The store; its entry is at the outputs of the memories.
    output reg offer,
    output reg [GI-1:0] group,
    output reg [9:0] member, // with multicast: the first one of the word
    output reg [WORD-1:0] set, // with multicast: the members of the word
    output wire [31:0] sequence_of,
    input wire takes
);
    localparam BITS = $clog2(WORD), WI = $clog2(WORDS << GI), CHUNKS = (WORD + 7) / 8;
    localparam [2:0] REST = 0, FIND = 1, LOAD = 2, PICK = 3, LAST = 4;

    reg [2:0] state;
    reg [GROUPS*WORDS-1:0] due; // words with stores, by group
    reg [GROUPS-1:0] first, one; // there was no pass yet; it is for one member
    reg [GROUPS-1:0] pending;
    reg fresh, single; // of the pass: first, one
    reg [WORDS-1:0] words; // of the pass, not yet begun
    reg [3:0] now; // the word under way
    reg [WORD-1:0] rest, kept; // of the word: not yet offered; not taken
    reg any_kept; // in an earlier word of the pass
    integer g, i;

    // The next group.
    wire any;
    wire [GI-1:0] next;
    always @* for (g = 0; g < GROUPS; g = g + 1) pending[g] = due[g*WORDS+:WORDS] != 0;
    gba_arbiter #(GROUPS, GI) groups (clk, rst, pause ? pending & first : pending, state == REST, any, next);
    assign settled = state == REST && !done && (pending & first) == 0;
    reg [WORDS-1:0] due_next;
    always @* begin
        due_next = 0;
        for (g = 0; g < GROUPS; g = g + 1) if (next == GI'(g)) due_next = due_next | due[g*WORDS+:WORDS];
    end

    // Its word, and what is due of it.
    wire [WORDS-1:0] words_above;
    wire [9:0] only_member;
    wire [WORD-1:0] left;
    gba_first #(WORDS, 4) find (words, words_above, word);
    assign word_re = state == FIND || (state == LAST && words != 0);
    gba_memory #(1 << GI, 42, GI) rounds (clk, start, start_group, {start_member, start_sequence}, state == REST && any, next,
        {only_member, sequence_of});
    wire [WORD-1:0] kept_now = offer && !takes ? kept | set : kept;
    gba_memory #(WORDS << GI, WORD, WI) left_memory (clk, state == LAST, WI'({now, group}), kept_now, word_re,
        WI'({word, group}), left);

    // Its members, the lowest one first.
    wire [WORD-1:0] above;
    wire [BITS-1:0] lowest;
    gba_first #(WORD, BITS) pick (rest, above, lowest);
    wire [WORD-1:0] later = multicast ? 0 : rest & above;
    assign entry_re = state == PICK;
    assign entry = 10'(now * WORD) + 10'(lowest);

    // The number of stores: the bits of each 8, and their sum a cycle later.
    reg head, summing;
    reg [CHUNKS*4-1:0] chunk;
    reg [9:0] sum, total;
    always @* begin
        total = 0;
        for (i = 0; i < CHUNKS; i = i + 1) total = total + 10'(chunk[i*4+:4]);
    end
    wire [9:0] sum_now = summing ? sum + total : sum;
    function [3:0] ones(input [7:0] bits);
        ones = 4'(bits[0]) + 4'(bits[1]) + 4'(bits[2]) + 4'(bits[3]) + 4'(bits[4]) + 4'(bits[5]) + 4'(bits[6]) +
            4'(bits[7]);
    endfunction

    always @(posedge clk) begin
        offer <= 0;
        head <= 0;
        summing <= head;
        sum <= sum_now;
        kept <= kept_now;
        for (i = 0; i < CHUNKS; i = i + 1) chunk[i*4+:4] <= ones(8'(64'(rest) >> 8 * i));
        if (done && retire) begin
            done <= 0;
            if (drained) busy[done_group] <= 0;
        end
        case (state)
            REST: begin
                group <= next;
                words <= due_next;
                fresh <= first[next];
                single <= one[next];
                any_kept <= 0;
                sum <= 0;
                if (any) state <= FIND;
            end
            FIND: ;
            LOAD: begin
                rest <= mapped & (!fresh ? left : single ? WORD'(1) << only_member[BITS-1:0] : {WORD{1'b1}});
                kept <= 0;
                head <= 1;
                state <= PICK;
            end
            PICK: begin
                offer <= rest != 0;
                member <= multicast ? 10'(now * WORD) : entry;
                set <= multicast ? rest : rest & ~above;
                rest <= later;
                if (later == 0) state <= LAST;
            end
            default: begin
                for (g = 0; g < GROUPS; g = g + 1)
                    if (group == GI'(g) && kept_now == 0)
                        due[g*WORDS+:WORDS] <= due[g*WORDS+:WORDS] & ~(WORDS'(1) << now);
                any_kept <= any_kept || kept_now != 0;
                if (words == 0 && !done) begin
                    state <= REST;
                    first[group] <= 0;
                    done <= fresh || !(any_kept || kept_now != 0);
                    drained <= !(any_kept || kept_now != 0);
                    of_round <= !single;
                    done_group <= group;
                    releases <= fresh ? sum_now : 0;
                end
            end
        endcase
        if (word_re) begin
            now <= word;
            words <= words & words_above;
            state <= LOAD;
        end
        if (start) begin
            for (g = 0; g < GROUPS; g = g + 1) if (start_group == GI'(g)) due[g*WORDS+:WORDS] <= start_words;
            busy[start_group] <= 1;
            first[start_group] <= 1;
            one[start_group] <= start_one;
        end
        if (rst) begin
            state <= REST;
            {busy, first} <= 0;
            {due, offer, done, head, summing} <= 0;
        end
    end
endmodule
