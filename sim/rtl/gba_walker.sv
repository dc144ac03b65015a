// SPDX-License-Identifier: BSD-3-Clause
// The release walker: takes the groups whose rounds have completed, one at a time in ascending order
// from the last one on, and makes their release stores: one member a cycle, or with multicast one word
// of the mask a cycle. A store stays until `ready`. [REL-2, REL-3, REL-4, TAB-3]
module gba_walker #(
    parameter GROUPS = 32,
    parameter MEMBERS = 708,
    parameter WORD = 64,
    parameter WORDS = 12,
    parameter WI = 9, // bits of the index of a word of a mask
    parameter TI = 15 // bits of the index of an entry of the table
) (
    input wire clk,
    input wire rst,
    input wire multicast,
    input wire [GROUPS-1:0] start, // this group's round has completed
    output reg [GROUPS-1:0] busy, // from then on, until `retire`
    output reg done, // all stores of the group below have been taken
    output reg [4:0] group,
    output reg [9:0] releases,
    input wire retire,
    // The words of the masks of members and of addresses, and the entry of the table, a cycle after
    // the index.
    output wire [WI-1:0] word_index,
    input wire [WORD-1:0] members,
    input wire [WORD-1:0] mapped,
    output wire [TI-1:0] entry_index,
    // The store; its entry is at the outputs of the memories.
    output reg valid,
    output reg [9:0] member, // with multicast: the first one of the word
    output reg [WORD-1:0] set, // with multicast: the members of the word
    input wire ready
);
    localparam BITS = $clog2(WORD);

    reg [GROUPS-1:0] pending;
    reg walking, loaded, more;
    reg [3:0] word; // the word at the outputs of the memories, or in `rest`
    reg [WORD-1:0] rest; // valid with `more`

    // The next group, round robin: no group waits for more than one round of each other group.
    reg found;
    reg [4:0] next;
    integer i;
    always @* begin
        found = 0;
        next = 0;
        for (i = GROUPS; i > 0; i = i - 1)
            if (pending[(32'(group)+i)%GROUPS]) begin
                found = 1;
                next = 5'((32'(group) + i) % GROUPS);
            end
    end

    // The lowest member of the word, and how many it has. [REL-2]
    wire [WORD-1:0] bits = more ? rest : members & mapped;
    reg [BITS-1:0] lowest;
    reg [9:0] count;
    integer b;
    always @* begin
        lowest = 0;
        count = 0;
        for (b = WORD - 1; b >= 0; b = b - 1) if (bits[b]) lowest = BITS'(b);
        for (b = 0; b < WORD; b = b + 1) count = count + 10'(bits[b]);
    end

    wire stalled = valid && !ready;
    wire taking = walking && loaded && bits != 0 && !stalled;
    wire [WORD-1:0] left = multicast ? 0 : bits & ~(WORD'(1) << lowest);
    wire word_ends = bits == 0 || (taking && left == 0);
    wire [9:0] taken = multicast ? 10'(word * WORD) : 10'(word * WORD) + 10'(lowest);

    assign word_index = WI'(group * WORDS) + (!loaded ? 0 : word_ends ? WI'(word) + 1 : WI'(word));
    // While a store waits, its entry is read again.
    assign entry_index = TI'(group * MEMBERS) + (stalled ? TI'(member) : TI'(taken));

    always @(posedge clk) begin
        pending <= pending | start;
        busy <= busy | start;
        if (!stalled) valid <= taking;
        if (taking) begin
            member <= taken;
            set <= multicast ? bits : WORD'(1) << lowest;
            releases <= releases + (multicast ? count : 10'd1);
            rest <= left;
        end
        if (!walking && !done && found) begin
            walking <= 1;
            loaded <= 0;
            group <= next;
            pending[next] <= start[next];
            releases <= 0;
        end
        if (walking && !loaded) begin
            loaded <= 1;
            more <= 0;
            word <= 0;
        end
        if (walking && loaded) begin
            more <= !word_ends && (more || taking);
            if (word_ends) begin
                word <= word + 1;
                if (word == 4'(WORDS - 1)) walking <= 0;
            end
        end
        if (!walking && valid && ready) done <= 1;
        if (walking && loaded && word_ends && word == 4'(WORDS - 1) && !taking && !stalled) done <= 1;
        if (done && retire) begin
            done <= 0;
            busy[group] <= start[group];
        end
        if (rst) begin
            pending <= 0;
            busy <= 0;
            {walking, loaded, valid, done, more} <= 0;
            group <= 0;
            word <= 0;
        end
    end
endmodule
