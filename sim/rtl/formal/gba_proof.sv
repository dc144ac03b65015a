// SPDX-License-Identifier: BSD-3-Clause
// The properties of a small device: one group of up to three members, which is armed with any mask, any
// sequence and any addresses, some of them withdrawn. From then on two lanes make any accesses, except writes that
// configure; and the ports take the stores when they like. The ghosts follow device.md by what is on the pins.
module gba_proof (
    input wire clk,
    input wire [1:0] any_valid,
    input wire [1:0] any_write,
    input wire [7:0] any_width,
    input wire [63:0] any_address,
    input wire [127:0] any_value,
    input wire any_ready
);
    (* anyconst *) reg [2:0] mask;
    (* anyconst *) reg [2:0] addressed;
    (* anyconst *) reg [1:0] first;
    (* anyconst *) reg [1:0] address_0;
    (* anyconst *) reg [1:0] address_1;
    (* anyconst *) reg [1:0] address_2;
    (* anyconst *) reg [1:0] member; // one of the members, and a round
    (* anyconst *) reg [1:0] round;

    reg [3:0] step = 0;
    wire running = step == 10;
    reg [1:0] valid = 0, write = 0;
    reg [7:0] width = 0;
    reg [63:0] address = 0;
    reg [127:0] value = 0;
    wire [1:0] ready;
    wire idle, response, response_lane, completed, release_valid, held;
    wire [63:0] response_value, release_address;
    wire [2:0] error;
    wire [9:0] release_member;
    wire [31:0] release_sequence;
    wire [3:0] release_set;
    wire [9:0] members = 10'(mask[0]) + 10'(mask[1]) + 10'(mask[2]);

    reg [4:0] memory;
    reg [15:0] index;
    reg [63:0] data;
    always @* begin
        {memory, index, data} = 0;
        case (step)
            3: {memory, data} = {5'd0, 50'd0, 4'b0011, members};
            4: {memory, data} = {5'd1, 62'd0, first};
            5: {memory, data} = {5'd3, 61'd0, mask};
            6: {memory, data} = {5'd5, 61'd0, addressed};
            7: {memory, index, data} = {5'd6, 16'd0, 62'd0, address_0};
            8: {memory, index, data} = {5'd6, 16'd1, 62'd0, address_1};
            default: {memory, index, data} = {5'd6, 16'd2, 62'd0, address_2};
        endcase
    end

    gba_device #(.GROUPS(1), .MEMBERS(3), .PORTS(2), .LANES(2), .WORD(4), .SEQUENCE(2)) device (
        .clk(clk), .rst(step == 0), .groups(6'd1), .ports(10'd0), .multicast(1'b0), .uuid(128'd0), .idle(idle),
        .req_valid(valid), .req_ready(ready), .req_write(write), .req_width(width), .req_port(20'd0),
        .req_address(address), .req_value(value), .resp_valid(response), .resp_lane(response_lane),
        .resp_value(response_value), .resp_error(error), .resp_completed(completed), .rel_valid(release_valid),
        .rel_multicast(), .rel_group(), .rel_member(release_member), .rel_port(), .rel_address(release_address),
        .rel_sequence(release_sequence), .rel_set(release_set), .rel_ready(any_ready), .irq_valid(), .irq_port(),
        .cu_request(), .cu_write(), .cu_port(), .cu_offset(), .cu_value(), .cu_done(1'b0), .cu_result(64'd0),
        .cu_hold(!running), .cu_held(held), .cu_we(step >= 3 && !running), .cu_sel(memory), .cu_index(index),
        .cu_data(data), .bad_access()
    );

    // The bus: an access stays until it is taken.
    integer i;
    always @(posedge clk) begin
        if (!running) step <= step + 1;
        for (i = 0; i < 2; i = i + 1)
            if (running && (!valid[i] || ready[i])) begin
                valid[i] <= any_valid[i];
                write[i] <= any_write[i];
                width[i*4+:4] <= any_width[i*4+:4];
                address[i*32+:32] <= any_address[i*32+:32];
                value[i*64+:64] <= any_value[i*64+:64];
            end
    end
    wire lane = ready[1];
    wire taken = ready != 0;
    wire [31:0] at = address[lane*32+:32];
    wire [3:0] wide = width[lane*4+:4];
    wire [63:0] what = value[lane*64+:64];
    wire arrives = taken && write[lane] && wide == 8 && (at == gba_regs::GBA_DOORBELL_BASE || at == 32'h10);
    wire reads = taken && !write[lane] && wide == 8 && at == 32'h10;
    wire withdraws = taken && write[lane] && wide == 8 && at >= gba_regs::GBA_TABLE_BASE &&
        at < gba_regs::GBA_TABLE_BASE + 24 && at[2:0] == 0 && what == 0;
    always @* begin
        assume (mask != 0);
        assume (member < 3 && mask[member]);
        // No configuration: CONTROL (0x8).
        if (running && taken && write[lane]) assume (at != 32'h8);
        if (step >= 3) assert (running || held);
    end

    // The ghosts: what device.md demands.
    reg [1:0] sequence_now;
    wire [1:0] next = sequence_now + 1;
    reg [2:0] arrived, given; // given: not withdrawn
    reg [1:0] owed_0, owed_1, owed_2; // stores that are due
    reg came; // the member arrived at the round
    reg was_read, was_arrival, was_last, was_withdrawn;
    reg [63:0] was_value;
    wire [1:0] who = what[1:0];
    wire named = what[31:0] < 3 && mask[who];
    wire now = arrives && named && what[63:32] == 32'(next);
    wire late = arrives && named && what[63:32] == 32'(sequence_now);
    wire [2:0] after = arrived | (now ? 3'd1 << who : 3'd0);
    wire last = now && after == mask;
    wire gone = release_valid && any_ready;
    wire [2:0] stores = (last ? mask & given : 3'd0) | (late ? (3'd1 << who) & given : 3'd0);
    always @(posedge clk) begin
        if (!running) begin
            sequence_now <= first;
            arrived <= 0;
            given <= addressed;
            {owed_0, owed_1, owed_2} <= 0;
            came <= round == first;
        end else begin
            arrived <= last ? 0 : after;
            if (last) sequence_now <= next;
            if (withdraws) given[at[4:3]] <= 0;
            owed_0 <= owed_0 + 2'(stores[0]) - 2'(gone && release_member == 0);
            owed_1 <= owed_1 + 2'(stores[1]) - 2'(gone && release_member == 1);
            owed_2 <= owed_2 + 2'(stores[2]) - 2'(gone && release_member == 2);
            came <= now && next == round && who == member || came && sequence_now != round + 2'd1;
        end
        was_read <= running && reads;
        was_arrival <= running && arrives;
        was_last <= last;
        was_value <= {30'd0, sequence_now, 30'd0, 2'(arrived[0]) + 2'(arrived[1]) + 2'(arrived[2])};
    end
    wire [1:0] owed = release_member == 0 ? owed_0 : release_member == 1 ? owed_1 : owed_2;
    wire [1:0] address_of = release_member == 0 ? address_0 : release_member == 1 ? address_1 : address_2;

    always @* if (running) begin
`ifdef PROVE_EARLY
        // REL-1, REL-4: no release of a round before every member has arrived at it.
        if (release_valid && release_sequence == 32'(round)) assert (came);
`endif
`ifdef PROVE_OUTSIDE
        // REL-4: a store goes to the address of a member, for the round that has completed.
        if (release_valid)
            assert (release_member < 3 && mask[release_member[1:0]] && release_address == 64'({address_of, 3'd0}) &&
                release_sequence == 32'(sequence_now));
`endif
`ifdef PROVE_LOST
        // ARR-3, REL-1: no arrival is lost, also while stores of the round before are made.
        if (was_read) assert (response && response_value == was_value);
        if (was_arrival) assert (response && completed == was_last);
`endif
`ifdef PROVE_REPEAT
        // ARR-4, ARR-5, SEQ-4: a store is due once for each member at the end of a round, and once for each late
        // arrival; a repeat makes none.
        if (release_valid) assert (owed != 0);
`endif
`ifdef PROVE_ALL
        // REL-2: each member gets its store, in ascending order: none is due to a lower member, and none at all when
        // the device is idle, the round ends, or a member is released again.
        if (release_valid) assert (!(release_member > 0 && owed_0 != 0) && !(release_member > 1 && owed_1 != 0));
        if (idle || last || late) assert ({owed_0, owed_1, owed_2} == 0);
`endif
`ifdef PROVE_WITHDRAWN
        // TAB-3: nothing is stored for a withdrawn member.
        if (release_valid) assert (given[release_member[1:0]]);
`endif
    end
endmodule
