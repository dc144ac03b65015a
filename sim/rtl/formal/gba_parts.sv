// SPDX-License-Identifier: BSD-3-Clause
// The properties of parts by themselves, with any inputs that the device gives them, for any one of the lanes, ports,
// or members of `N groups. `begun`: the reset of one cycle is over.

// ORD-2: whoever asks is taken after at most N - 1 others.
module gba_proof_arbiter (
    input wire clk,
    input wire [`N-1:0] ask,
    input wire take
);
    (* anyconst *) reg [1:0] one;
    reg begun = 0;
    reg [2:0] others = 0;
    wire any;
    wire [1:0] which;
    gba_arbiter #(`N, 2) arbiter (clk, !begun, ask, take, any, which);
    always @(posedge clk) begin
        begun <= 1;
        others <= !begun || !ask[one] || (take && which == one) ? 0 : others + 3'(take);
    end
    always @* begin
        assume (one < `N);
        if (begun) assert (any == (ask != 0) && (!any || ask[which]) && others < `N);
    end
endmodule

// PORT-6: a store is given once, in the cycle after it was taken, or dropped because its port is lost, which is a port
// that was not ready for more than 4 cycles, and each that was not for 8.
module gba_proof_egress (
    input wire clk,
    input wire [1:0] ready,
    input wire offer,
    input wire all,
    input wire port,
    input wire store
);
    (* anyconst *) reg one;
    reg begun = 0, given_then, store_then;
    reg [3:0] stalled = 0;
    wire [1:0] lost;
    wire takes, valid, given;
    gba_egress #(.PORTS(2), .PATIENCE(2), .WIDTH(1)) egress (
        .clk(clk), .rst(!begun), .ready(ready), .lost(lost), .offer(offer), .all(all), .port({9'd0, port}),
        .store(store), .takes(takes), .valid(valid), .given(given)
    );
    always @(posedge clk) begin
        begun <= 1;
        stalled <= !begun || ready[one] ? 0 : stalled + 4'(stalled < 8);
        given_then <= begun && offer && takes && (all || ready[port]);
        store_then <= store;
    end
    always @* if (begun) begin
        assert (takes == (all || ready[port] || lost[port]));
        assert (valid == given_then && (!valid || given == store_then));
        assert (lost[one] ? stalled > 4 : stalled < 8);
    end
endmodule

// REL-2, REL-4: each store that is due is taken once, and is offered again after at most a pass of each other group.
module gba_proof_walker (
    input wire clk,
    input wire pause,
    input wire start,
    input wire [1:0] start_group,
    input wire start_one,
    input wire [1:0] start_member,
    input wire start_sequence,
    input wire [1:0] start_words,
    input wire retire,
    input wire takes
);
    localparam WORDS = `N == 2 ? 2 : 1; // of two members
    localparam PASS = 2 + 4 * WORDS; // its cycles at most
    (* anyconst *) reg multicast;
    (* anyconst *) reg [`N*4-1:0] maps; // members with addresses
    (* anyconst *) reg [1:0] group, member;
    reg begun = 0;
    wire [`N-1:0] busy;
    wire settled, done, drained, word_re, entry_re, offer;
    wire [1:0] done_group, at, set;
    wire [9:0] releases, entry, first;
    wire [3:0] word;
    wire [31:0] sequence_of;
    reg [1:0] mapped;
    gba_walker #(`N, 2, 2, WORDS) walker (
        .clk(clk), .rst(!begun), .multicast(multicast), .pause(pause), .start(start), .start_group(start_group),
        .start_one(start_one), .start_member({8'd0, start_member}), .start_sequence({31'd0, start_sequence}),
        .start_words(start_words[WORDS-1:0]), .busy(busy), .settled(settled), .done(done), .drained(drained), .of_round(),
        .done_group(done_group), .releases(releases), .retire(retire), .word_re(word_re), .word(word), .mapped(mapped),
        .entry_re(entry_re), .entry(entry), .offer(offer), .group(at), .member(first), .set(set),
        .sequence_of(sequence_of), .takes(takes)
    );

    wire [3:0] has = maps[start_group*4+:4], ours = maps[group*4+:4];
    wire [3:0] starts = start_one ? 4'd1 << start_member : has & {{2{start_words[1]}}, {2{start_words[0]}}};
    wire starts_ours = start && start_group == group;
    wire ours_offered = offer && at == group && first[9:1] == 9'(member[1]) && set[member[0]];
    reg owed, once, counted, sequence_now; // the store is due; it was offered; the stores were counted
    reg [9:0] stores, entry_then;
    reg [5:0] waited; // cycles since the store was due or offered, without pause, or without waiting for the engine
    always @(posedge clk) begin
        begun <= 1;
        if (word_re) mapped <= maps[{at, word[0], 1'b0}+:2];
        if (entry_re) entry_then <= entry;
        owed <= begun && (starts_ours ? starts[member] : owed && !(ours_offered && takes));
        once <= !starts_ours && (once || ours_offered);
        counted <= !starts_ours && (counted || (done && retire && done_group == group));
        waited <= !begun || !owed || ours_offered || pause ? 0 : waited + 6'(!done);
        if (starts_ours) begin
            sequence_now <= start_sequence;
            stores <= 10'(starts[0]) + 10'(starts[1]) + 10'(starts[2]) + 10'(starts[3]);
        end
    end
    always @* begin
        assume (group < `N && ours[member]);
        if (start) assume (start_group < `N && !busy[start_group] && start_words != 0 && 32'(start_words) < 1 << WORDS);
        if (start && start_one) assume (has[start_member] && start_words == 2'd1 << start_member[1]);
        if (begun) begin
            if (ours_offered) assert (owed && sequence_of == {31'd0, sequence_now});
            if (offer && !multicast) assert (set == 2'd1 << first[0] && first == entry_then);
            if (!busy[group] || (done && drained && done_group == group)) assert (!owed);
            if (settled) assert (!owed || once);
            if (done && done_group == group) assert (releases == (counted ? 0 : stores));
            assert (waited <= `N * PASS);
        end
    end
endmodule
