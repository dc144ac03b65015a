// SPDX-License-Identifier: BSD-3-Clause
// The properties of a small device: two groups of up to three members, which are armed with any sequence, the members
// bound to any of two ports, some of them withdrawn. From then on each port makes any accesses on a lane of its own,
// and takes stores when it likes; the control unit ends commands when it likes. The ghosts follow device.md by what is on the pins, for any one of the groups.
module gba_proof (
    input wire clk,
    input wire [1:0] any_valid,
    input wire [1:0] any_write,
    input wire [7:0] any_width,
    input wire [63:0] any_address,
    input wire [127:0] any_value,
    input wire [1:0] any_ready,
    input wire any_hold,
    input wire any_done
);
    (* anyconst *) reg [1:0] first;
    (* anyconst *) reg [1:0] members; // of both groups
    (* anyconst *) reg [5:0] addressed; // by group and member
    (* anyconst *) reg [5:0] ports;
    (* anyconst *) reg group; // one of the groups, one of its members, and a round
    (* anyconst *) reg [1:0] member;
    (* anyconst *) reg [1:0] round;
    wire [2:0] mask = {members == 3, members >= 2, 1'b1};

    // The set-up, by the bus of the control unit: 12 writes for each group, and 3 for each port.
    reg [5:0] step = 0;
    wire running = step == 34;
    wire [4:0] set = 5'(step - 6'd4);
    wire which = set >= 12; // group
    wire [3:0] item = 4'(which ? set - 5'd12 : set);
    reg [4:0] memory;
    reg [15:0] index;
    reg [63:0] data;
    always @* begin
        index = {15'd0, which};
        data = {61'd0, mask};
        case (item)
            0: {memory, data} = {5'd0, 50'd0, 4'b0111, 8'd0, members};
            1: {memory, data} = {5'd1, 62'd0, first};
            2: memory = 5'd3;
            3: {memory, data} = {5'd5, 61'd0, mask & addressed[which*3+:3]};
            4: memory = 5'd8;
            5: {memory, data} = {5'd9, 64'd3};
            6, 7, 8: {memory, index, data} = {5'd6, 13'd0, 2'(item - 4'd6), which, 59'd0, 2'd1, which, 2'(item - 4'd6)};
            default: {memory, index, data} = {5'd7, 13'd0, 2'(item - 4'd9), which, 63'd0, ports[which*3+32'(item)-9]};
        endcase
        if (set >= 24) begin
            memory = set < 26 ? 5'd14 : set < 28 ? 5'd12 : 5'd13;
            {index, data} = {15'd0, set[0], 63'd0, memory == 14};
        end
    end

    reg [1:0] valid = 0, write = 0;
    reg [7:0] width = 0;
    reg [63:0] address = 0;
    reg [127:0] value = 0;
    wire [1:0] ready, lost;
    wire idle, response, completed, release_valid, held, unit;
    wire [63:0] response_value, release_address;
    wire [2:0] error;
    wire [4:0] release_group;
    wire [9:0] release_member, release_port;
    wire [31:0] release_sequence;
    wire [9:0] unit_port;
    wire ended = running && unit && held && any_done;
    gba_device #(.GROUPS(2), .MEMBERS(3), .PORTS(2), .LANES(2), .WORD(4), .SEQUENCE(2)) device (
        .clk(clk), .rst(step == 0), .groups(6'd2), .ports(10'd2), .multicast(1'b0), .uuid(128'd0), .idle(idle),
        .req_valid(valid), .req_ready(ready), .req_wait(), .req_write(write), .req_width(width),
        .req_port({10'd1, 10'd0}), .req_address(address), .req_value(value), .resp_valid(response), .resp_port(),
        .resp_value(response_value), .resp_error(error), .resp_completed(completed), .rel_ready(any_ready),
        .rel_lost(lost), .rel_valid(release_valid), .rel_multicast(), .rel_group(release_group),
        .rel_member(release_member), .rel_port(release_port), .rel_address(release_address),
        .rel_sequence(release_sequence), .rel_set(), .irq_valid(), .irq_port(), .cu_valid(unit), .cu_port(unit_port),
        .cu_hold(!running || any_hold), .cu_held(held), .cu_we(step >= 4 && !running), .cu_sel(memory),
        .cu_index(index), .cu_data(data), .cu_value(), .cu_irq_valid(1'b0), .cu_irq_ready(), .cu_irq_port(10'd0),
        .cu_done(ended), .bad_access()
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
    wire wide = width[lane*4+:4] == 8;
    wire [63:0] what = value[lane*64+:64];
    wire [31:0] page = {19'd0, group, 12'h10};
    wire [31:0] table_at = gba_regs::GBA_TABLE_BASE + {18'd0, group, 13'd0};
    wire arrives = taken && write[lane] && wide &&
        (at == gba_regs::GBA_DOORBELL_BASE + {15'd0, group, 16'd0} || at == page);
    wire reads = taken && !write[lane] && wide && at == page;
    wire [1:0] gone_member = at[4:3];
    wire [2:0] ours = ports[group*3+:3]; // of members of port 1
    wire withdraws = taken && write[lane] && wide && at >= table_at && at < table_at + 24 && at[2:0] == 0 &&
        what == 0 && mask[gone_member] && ours[gone_member] == lane;
    always @* begin
        assume (members != 0);
        assume (member < 3 && mask[member]);
        if (step >= 4) assert (running || held);
    end

    // The ghosts: what device.md demands.
    reg [1:0] sequence_now;
    wire [1:0] next = sequence_now + 1;
    reg [2:0] arrived, given; // given: not withdrawn
    reg [1:0] owed_0, owed_1, owed_2; // stores that are due
    reg came; // the member arrived at the round
    reg was_read, was_arrival, was_last;
    reg [1:0] was_ready;
    reg [63:0] was_value;
    wire [1:0] who = what[1:0];
    wire named = what[31:0] < 3 && mask[who] && ours[who] == lane; // both groups have generation 0
    wire now = arrives && named && what[63:32] == 32'(next);
    wire late = arrives && named && what[63:32] == 32'(sequence_now);
    wire [2:0] after = arrived | (now ? 3'd1 << who : 3'd0);
    wire last = now && after == mask;
    wire ours_gone = release_valid && release_group == 5'(group);
    wire [2:0] stores = (last ? mask & given : 3'd0) | (late ? (3'd1 << who) & given : 3'd0);
    wire none_owed = {owed_0, owed_1, owed_2} == 0;
    // What was due when a port came with a command, and whether the control unit has it.
    wire [31:0] command_at = gba_regs::GBA_PORT_BASE + gba_regs::GBA_PORT_COMMAND;
    reg [1:0] commands, owed_then, commanded, at_unit;
    always @* for (i = 0; i < 2; i = i + 1)
        commands[i] = valid[i] && write[i] && address[i*32+:32] == command_at && width[i*4+:4] == 4;
    always @(posedge clk) begin
        if (!running) begin
            sequence_now <= first;
            arrived <= 0;
            given <= addressed[group*3+:3];
            {owed_0, owed_1, owed_2} <= 0;
            came <= round == first;
            {commanded, owed_then, at_unit} <= 0;
        end else begin
            arrived <= last ? 0 : after;
            if (last) sequence_now <= next;
            if (withdraws) given[gone_member] <= 0;
            owed_0 <= owed_0 + 2'(stores[0]) - 2'(ours_gone && release_member == 0);
            owed_1 <= owed_1 + 2'(stores[1]) - 2'(ours_gone && release_member == 1);
            owed_2 <= owed_2 + 2'(stores[2]) - 2'(ours_gone && release_member == 2);
            came <= now && next == round && who == member || came && sequence_now != round + 2'd1;
            commanded <= commands & ~ready;
            at_unit <= (at_unit | commands & ready) & ~(2'(ended) << unit_port[0]);
            for (i = 0; i < 2; i = i + 1)
                owed_then[i] <= (commanded[i] ? owed_then[i] : commands[i]) && !none_owed;
        end
        was_ready <= any_ready;
        was_read <= running && reads;
        was_arrival <= running && arrives;
        was_last <= last;
        was_value <= {30'd0, sequence_now, 30'd0, 2'(arrived[0]) + 2'(arrived[1]) + 2'(arrived[2])};
    end
    wire [1:0] owed = release_member == 0 ? owed_0 : release_member == 1 ? owed_1 : owed_2;

    always @* if (running) begin
`ifdef PROVE_EARLY
        // REL-1, REL-4: no release of a round before every member has arrived at it.
        if (ours_gone && release_sequence == 32'(round)) assert (came);
`endif
`ifdef PROVE_OUTSIDE
        // REL-4, PORT-5: a store goes to the address of a member, through its port, when that takes it, for the round
        // that has completed. PORT-6: no port is lost so soon.
        assert (lost == 0);
        if (ours_gone)
            assert (release_member < 3 && mask[release_member[1:0]] && release_port == 10'(ours[release_member[1:0]]) &&
                was_ready[release_port[0]] && release_sequence == 32'(sequence_now) &&
                release_address == {56'd0, 2'd1, group, release_member[1:0], 3'd0});
`endif
`ifdef PROVE_LOST
        // ARR-3, REL-1: no arrival is lost, also while stores of the round before are made.
        if (was_read) assert (response && response_value == was_value);
        if (was_arrival) assert (response && completed == was_last);
`endif
`ifdef PROVE_REPEAT
        // ARR-4, ARR-5, SEQ-4: a store is due once for each member at the end of a round, and once for each late
        // arrival; a repeat makes none.
        if (ours_gone) assert (owed != 0);
`endif
`ifdef PROVE_ALL
        // REL-2: each member gets its store: none is due when the device is idle, the round ends, or a member is
        // released again.
        if (idle || last || late) assert (none_owed);
`endif
`ifdef PROVE_WITHDRAWN
        // TAB-3: nothing is stored for a withdrawn member.
        if (ours_gone) assert (given[release_member[1:0]]);
`endif
`ifdef PROVE_COMMAND
        // ORD-3: the control unit gets a command after the stores that were due when it came were made.
        assert ((commands & ready & commanded & owed_then) == 0 && ((commands & ready & ~commanded) == 0 || none_owed));
`endif
`ifdef PROVE_UNIT
        // CMD-1: the control unit has each command until it ends it, and no access of its port overtakes it.
        assert ((at_unit & ready) == 0 && (!unit || at_unit[unit_port[0]]));
`endif
    end
endmodule
