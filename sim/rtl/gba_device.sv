// SPDX-License-Identifier: BSD-3-Clause
// The datapath of a GBA: all that the accesses of hosts do, except the mailbox, which the control unit
// executes. One engine makes one access at a time; the walker makes the release stores beside it.
// README.md has the block diagram and the interfaces.
module gba_device #(
    parameter GROUPS = 32,
    parameter MEMBERS = 708,
    parameter PORTS = 708,
    parameter LANES = 4,
    parameter WORD = 64, // bits of a word of a mask
    parameter SEQUENCE = 32 // bits of a sequence; fewer only in proofs
) (
    input wire clk,
    input wire rst, // synchronous; all straps are stable from its end on
    input wire [5:0] groups, // straps: the groups and ports that exist, multicast, the identity
    input wire [9:0] ports,
    input wire multicast,
    input wire [127:0] uuid,
    output wire idle,
    // Accesses: a lane has those of the ports of its number modulo LANES, in their order.
    input wire [LANES-1:0] req_valid,
    output wire [LANES-1:0] req_ready,
    input wire [LANES-1:0] req_write,
    input wire [LANES*4-1:0] req_width,
    input wire [LANES*10-1:0] req_port,
    input wire [LANES*32-1:0] req_address,
    input wire [LANES*64-1:0] req_value,
    // The end of an access. A posted write of the bus ignores it.
    output reg resp_valid,
    output reg [$clog2(LANES)-1:0] resp_lane,
    output reg [63:0] resp_value,
    output reg [2:0] resp_error,
    output reg resp_completed,
    // Release stores. With multicast, those of a round have the members of a word in `rel_set`, and
    // the egress of each port looks up the address; a repeated release has one member.
    output reg rel_valid,
    output reg rel_multicast,
    output reg [4:0] rel_group,
    output reg [9:0] rel_member,
    output reg [9:0] rel_port,
    output reg [63:0] rel_address,
    output reg [31:0] rel_sequence,
    output reg [WORD-1:0] rel_set,
    input wire rel_ready,
    // Interrupts: a message to the host of the port.
    output reg irq_valid,
    output reg [9:0] irq_port,
    // The control unit: an access of the mailbox, until cu_done. It reads and writes the memories
    // by their number while it has an access, or has been granted cu_hold.
    output wire cu_request,
    output wire cu_write,
    output wire [9:0] cu_port,
    output wire [15:0] cu_offset,
    output wire [63:0] cu_value,
    input wire cu_done,
    input wire [63:0] cu_result,
    input wire cu_hold,
    output wire cu_held,
    input wire cu_we,
    input wire [4:0] cu_sel,
    input wire [15:0] cu_index,
    input wire [63:0] cu_data,
    output reg [63:0] bad_access
);
    localparam WORDS = (MEMBERS + WORD - 1) / WORD, PWORDS = (PORTS + WORD - 1) / WORD;
    localparam LANE = $clog2(LANES), BITS = $clog2(WORD);
    localparam GI = GROUPS > 1 ? $clog2(GROUPS) : 1;
    localparam WI = $clog2(GROUPS * WORDS + 1), PWI = $clog2(GROUPS * PWORDS + 1);
    localparam TI = $clog2(GROUPS * MEMBERS), EI = $clog2(GROUPS * PORTS), PI = $clog2(PORTS);
    localparam INITS = GROUPS * (WORDS > PWORDS ? WORDS : PWORDS);
    localparam [2:0] PAGE = 1, DEVICE = 2, PORT = 3, TABLE = 4, BELL = 5; // gba_decode
    localparam [2:0] ACCESS = 3'(gba_regs::GBA_ERROR_ACCESS), MEMBER = 3'(gba_regs::GBA_ERROR_MEMBER),
        CONFIG = 3'(gba_regs::GBA_ERROR_CONFIG);
    localparam [5:0] EVENT_ERROR = 6'(gba_regs::GBA_IRQ_ERROR), EVENT_ROUND = 6'(gba_regs::GBA_IRQ_ROUND);
    localparam [2:0] INIT = 0, IDLE = 1, EXEC = 2, SCAN = 3, UNIT = 4, RETIRE = 5, NOTIFY = 6, RAISE = 7;
    // The memories as the control unit numbers them; the counters follow.
    localparam [4:0] M_CONFIG = 0, M_ROUND = 1, M_GENERATION = 2, M_MEMBERS = 3, M_ARRIVED = 4, M_MAPPED = 5,
        M_TABLE = 6, M_BOUND = 7, M_JOINED = 8, M_CONCERNS = 9, M_NOTIFY = 10, M_EVENTS = 11, M_CAUSE = 12,
        M_MASK = 13, M_UP = 14, M_FREE = 15, M_COUNTER = 16, M_BAD = 26;

    reg [2:0] state;
    reg [15:0] step; // of INIT, SCAN and NOTIFY
    reg [PORTS-1:0] up;
    reg [5:0] groups_free;
    wire with_ports = ports != 0;

    // The access that may start, and the decoding of its address. [ORD-1, ORD-2]
    wire [GROUPS-1:0] busy;
    reg [GROUPS-1:0] blocked; // release stores of the group are not yet taken
    reg [LANES-1:0] waits, waits_all, may_start; // for the group below, or for all groups
    reg [LANES*5-1:0] waits_for;
    wire any, done;
    wire retire = state == IDLE && done && !(rel_valid && rel_group == walk_group);
    wire [LANE-1:0] q_lane;
    wire start = state == IDLE && !cu_hold && !retire && any;
    integer l;
    always @* begin
        blocked = busy;
        if (one_valid) blocked[GI'(one[117:113])] = 1;
        if (rel_valid) blocked[GI'(rel_group)] = 1;
        for (l = 0; l < LANES; l = l + 1)
            may_start[l] = req_valid[l] && !(waits[l] && blocked[GI'(waits_for[l*5+:5])]) &&
                !(waits_all[l] && blocked != 0);
    end
    gba_arbiter #(.LANES(LANES), .LANE(LANE)) arbiter (
        .clk(clk), .rst(rst), .may_start(may_start), .take(start), .any(any), .lane(q_lane)
    );
    wire [63:0] q_value = req_value[q_lane*64+:64];
    wire [9:0] q_port = req_port[q_lane*10+:10];
    wire [2:0] q_aperture;
    wire [4:0] q_group;
    wire [15:0] q_offset;
    wire q_takes;
    gba_decode #(.MEMBERS(MEMBERS), .WORDS(WORDS)) decode (
        .address(req_address[q_lane*32+:32]), .width(req_width[q_lane*4+:4]), .write(req_write[q_lane]),
        .ports(with_ports), .aperture(q_aperture), .group(q_group), .offset(q_offset), .takes(q_takes)
    );
    wire [9:0] q_entry = q_aperture == TABLE ? q_offset[12:3] : q_value[9:0];
    wire [9:0] q_member = q_entry < MEMBERS ? q_entry : 0;
    wire q_masks = q_aperture == PAGE && q_offset != 16'(gba_regs::GBA_REG_ARRIVAL);
    wire [15:0] q_mask_offset = q_offset >= 16'(gba_regs::GBA_REG_ARRIVED_MASK) ?
        q_offset - 16'(gba_regs::GBA_REG_ARRIVED_MASK) : q_offset - 16'(gba_regs::GBA_REG_MEMBER_MASK);
    wire [3:0] q_mask_word = q_mask_offset[15:3] < WORDS ? q_mask_offset[6:3] : 0;
    wire [3:0] q_word = q_masks ? q_mask_word : 4'(q_member >> BITS);
    wire [4:0] q_egroup = q_aperture == PORT ? 5'((q_offset - 16'(gba_regs::GBA_PORT_EVENTS)) >> 2) : q_group;
    wire [9:0] q_bank = q_port < PORTS ? q_port : 0;
    function [4:0] exists(input [4:0] group);
        exists = 32'(group) < GROUPS ? group : 0;
    endfunction

    // The access under way.
    reg [LANE-1:0] lane;
    reg write, takes;
    reg [3:0] width, word;
    reg [9:0] bank, port, member;
    reg [2:0] aperture;
    reg [4:0] group, egroup;
    reg [15:0] offset;
    reg [63:0] value;

    // The memories: the first read port is the engine's, the second one the walker's.
    wire [4:0] walk_group;
    wire [9:0] walk_releases, walk_member;
    wire [WI-1:0] walk_word;
    wire [TI-1:0] walk_entry;
    wire [4:0] r_group = state == IDLE ? (retire ? walk_group : q_group) : group;
    wire [WI-1:0] r_word = state == IDLE ? WI'(exists(q_group) * WORDS) + WI'(q_word) :
        WI'(group * WORDS) + WI'(step);
    wire [TI-1:0] r_entry = TI'(exists(q_group) * MEMBERS) + TI'(q_member);
    wire [PWI-1:0] r_pword = state == IDLE ? PWI'(exists(q_group) * PWORDS) + PWI'(q_bank >> BITS) :
        PWI'(group * PWORDS) + PWI'(step);
    wire [9:0] notified; // the port that gets ROUND
    wire [9:0] r_bank = state == IDLE ? q_bank : notified;
    wire [EI-1:0] r_event = state == IDLE ? EI'(exists(q_egroup) * PORTS) + EI'(q_bank) :
        EI'(group * PORTS) + EI'(notified);

    // The write ports, for the engine and the control unit.
    reg [M_BAD-1:0] we; // by the number of the memory
    reg [GI-1:0] w_group;
    reg [WI-1:0] w_word;
    reg [PWI-1:0] w_pword;
    reg [TI-1:0] w_entry;
    reg [EI-1:0] w_event;
    reg [PI-1:0] w_bank;
    reg [13:0] config_w;
    reg [61:0] round_w;
    reg [31:0] cause_w;
    reg [63:0] data_w; // of the memories that only take a value
    reg [WORD-1:0] members_w, arrived_w, mapped_w, notify_w;
    reg [60:0] table_w;
    reg [5:0] events_w;

    wire [13:0] config_r;
    wire [61:0] round_r, round_b;
    wire [31:0] generation_r, cause_r, mask_r;
    wire [WORD-1:0] members_r, members_b, arrived_r, mapped_r, mapped_b, joined_r, concerns_r, notify_r;
    wire [60:0] table_r, table_b;
    wire [9:0] bound_r, bound_b;
    wire [5:0] events_r;
    gba_memory #(GROUPS, 14, GI, M_CONFIG) config_memory (clk, we[M_CONFIG], w_group, config_w, GI'(r_group), config_r);
    gba_memory #(GROUPS, 62, GI, M_ROUND, 2) round_memory (clk, we[M_ROUND], w_group, round_w,
        {GI'(walk_group), GI'(r_group)}, {round_b, round_r});
    gba_memory #(GROUPS, 32, GI, M_GENERATION) generation_memory (clk, we[M_GENERATION], w_group, data_w[31:0],
        GI'(r_group), generation_r);
    gba_memory #(GROUPS * WORDS, WORD, WI, M_MEMBERS, 2) members_memory (clk, we[M_MEMBERS], w_word, members_w,
        {walk_word, r_word}, {members_b, members_r});
    gba_memory #(GROUPS * WORDS, WORD, WI, M_ARRIVED) arrived_memory (clk, we[M_ARRIVED], w_word, arrived_w, r_word,
        arrived_r);
    gba_memory #(GROUPS * WORDS, WORD, WI, M_MAPPED, 2) mapped_memory (clk, we[M_MAPPED], w_word, mapped_w,
        {walk_word, r_word}, {mapped_b, mapped_r});
    gba_memory #(GROUPS * MEMBERS, 61, TI, M_TABLE, 2) table_memory (clk, we[M_TABLE], w_entry, table_w,
        {walk_entry, r_entry}, {table_b, table_r});
    gba_memory #(GROUPS * MEMBERS, 10, TI, M_BOUND, 2) bound_memory (clk, we[M_BOUND], w_entry, data_w[9:0],
        {walk_entry, r_entry}, {bound_b, bound_r});
    gba_memory #(GROUPS * WORDS, WORD, WI, M_JOINED) joined_memory (clk, we[M_JOINED], w_word, data_w[WORD-1:0],
        r_word, joined_r);
    gba_memory #(GROUPS * PWORDS, WORD, PWI, M_CONCERNS) concerns_memory (clk, we[M_CONCERNS], w_pword,
        data_w[WORD-1:0], r_pword, concerns_r);
    gba_memory #(GROUPS * PWORDS, WORD, PWI, M_NOTIFY) notify_memory (clk, we[M_NOTIFY], w_pword, notify_w, r_pword,
        notify_r);
    gba_memory #(GROUPS * PORTS, 6, EI, M_EVENTS) events_memory (clk, we[M_EVENTS], w_event, events_w, r_event,
        events_r);
    gba_memory #(PORTS, 32, PI, M_CAUSE) cause_memory (clk, we[M_CAUSE], w_bank, cause_w, PI'(r_bank), cause_r);
    gba_memory #(PORTS, 32, PI, M_MASK) mask_memory (clk, we[M_MASK], w_bank, data_w[31:0], PI'(r_bank), mask_r);
    reg [9:0] count; // the counters that increase by one; RELEASES increases by `releases`
    reg [9:0] releases;
    wire [639:0] counter_r;
    genvar c;
    generate
        for (c = 0; c < 10; c = c + 1) begin : counters
            wire [63:0] now;
            gba_memory #(GROUPS, 64, GI, 5'(16 + c)) memory (clk, we[16+c] || count[c] || (c == 1 && releases != 0),
                w_group, we[16+c] ? data_w : now + (c == 1 ? 64'(releases) : 64'd1), GI'(r_group), now);
            assign counter_r[c*64+:64] = now;
        end
    endgenerate

    // What the memories say about the group.
    wire [9:0] member_count = config_r[9:0];
    wire enabled = config_r[10], armed = config_r[11], interrupts = config_r[12];
    wire [31:0] sequence_now = round_r[31:0];
    wire [9:0] arrived_count = round_r[41:32];
    wire complete = round_r[42], failed = round_r[43], asked = round_r[47]; // asked: a NOTIFY waits
    wire [2:0] last_error = round_r[46:44];
    wire [13:0] live = round_r[61:48]; // words of ARRIVED_MASK that are not 0 since the round began [REL-1]
    wire ready = enabled && armed;
    wire [BITS-1:0] member_bit = member[BITS-1:0], bank_bit = bank[BITS-1:0];
    wire is_bound = !with_ports || (joined_r[member_bit] && bound_r == port);
    wire [WORD-1:0] arrived_now = live[word] ? arrived_r : 0;
    wire [63:0] status = {60'd0, failed, complete, arrived_count != 0, ready};

    wire [2:0] arrival_error;
    wire current, counted, repeated, late, completes;
    gba_arrival #(.MEMBERS(MEMBERS), .SEQUENCE(SEQUENCE)) arrival (
        .value(value), .ready(ready), .in_mask(members_r[member_bit]), .bound(is_bound),
        .arrived(arrived_now[member_bit]), .sequence_now(sequence_now), .arrived_count(arrived_count),
        .member_count(member_count), .error(arrival_error), .current(current), .counted(counted),
        .repeated(repeated), .late(late), .completes(completes)
    );

    // What the access is.
    wire reaches = !with_ports || (port < ports && up[PI'(bank)]); // [PORT-3]
    wire in_group = (aperture == PAGE || aperture == TABLE || aperture == BELL) && 6'(group) < groups;
    wire in_pages = aperture == DEVICE || (aperture == PORT && with_ports);
    wire arrives = in_group && takes && write && (aperture == BELL ? offset == 0 :
        aperture == PAGE && offset == 16'(gba_regs::GBA_REG_ARRIVAL));
    wire notifies = in_group && takes && aperture == BELL && offset != 0;
    wire in_events = offset >= 16'(gba_regs::GBA_PORT_EVENTS);
    wire in_unit = aperture == PORT && with_ports && takes && !in_events &&
        offset != 16'(gba_regs::GBA_PORT_NUMBER) && offset != 16'(gba_regs::GBA_PORT_IRQ_CAUSE) &&
        offset != 16'(gba_regs::GBA_PORT_IRQ_MASK); // the mailbox, QUOTA and HELD
    wire writes_control = aperture == PAGE && offset == 16'(gba_regs::GBA_REG_CONTROL);
    wire [31:0] data = value[31:0];
    wire [63:0] none = width >= 8 ? {64{1'b1}} : (64'd1 << {width, 3'd0}) - 64'd1; // [ACC-4]
    wire [63:0] allowed = {64{1'b1}} >> (64 * (32'(word) + 1) > MEMBERS ? 64 * (32'(word) + 1) - MEMBERS : 0);

    // The error of a write to a register or an entry. [CFG, TAB, PORT-5]
    reg [2:0] write_error;
    always @* begin
        write_error = 0;
        if (aperture == TABLE) begin
            if (!is_bound) write_error = MEMBER;
            else if (value != 0 && (enabled || value[2:0] != 0)) write_error = CONFIG;
        end else if (with_ports) write_error = CONFIG;
        else if (writes_control) begin
            if (!data[1] && (data[31:4] != 0 || (data[2] && !data[0]))) write_error = CONFIG;
        end else if (enabled) write_error = CONFIG;
        else if (offset == 16'(gba_regs::GBA_REG_MEMBER_COUNT)) begin
            if (data > MEMBERS) write_error = CONFIG;
        end else if (offset != 16'(gba_regs::GBA_REG_SEQUENCE) && (value & ~allowed) != 0) write_error = CONFIG;
    end
    wire group_error_now = in_group && !(takes && !write);
    wire [2:0] group_error = !takes ? ACCESS : !write ? 0 : arrives || notifies ? arrival_error : write_error;
    wire event_error = 6'(egroup) >= groups || data[31:4] != 0; // [IRQ-2]
    wire page_error = !in_group && (!in_pages || !takes ||
        (write && aperture == PORT && in_events && event_error)); // [ERR-3, IRQ-2]
    wire concerned = !with_ports || concerns_r[bank_bit]; // [PORT-2]

    // The value of a read. [GRP, TAB-1, PORT-5, DEV, IRQ-1]
    reg [63:0] read_value;
    always @* begin
        read_value = 0;
        case (aperture)
            PAGE:
                case (offset)
                    16'(gba_regs::GBA_REG_GROUP_ID): read_value = 64'(group);
                    16'(gba_regs::GBA_REG_MEMBER_COUNT): read_value = 64'(member_count);
                    16'(gba_regs::GBA_REG_CONTROL): read_value = {60'd0, interrupts, armed, 1'b0, enabled};
                    16'(gba_regs::GBA_REG_STATUS): read_value = status;
                    16'(gba_regs::GBA_REG_ARRIVAL):
                        read_value = {width == 8 ? sequence_now : 32'd0, 22'd0, arrived_count};
                    16'(gba_regs::GBA_REG_SEQUENCE): read_value = 64'(sequence_now);
                    16'(gba_regs::GBA_REG_LAST_ERROR): read_value = 64'(last_error);
                    16'(gba_regs::GBA_REG_GENERATION): read_value = 64'(generation_r);
                    default:
                        if (offset >= 16'(gba_regs::GBA_REG_COUNTERS)) begin
                            if (offset[6:3] < 10) read_value = counter_r[64*32'(offset[6:3])+:64];
                        end else if (offset >= 16'(gba_regs::GBA_REG_ARRIVED_MASK)) read_value = 64'(arrived_now);
                        else read_value = 64'(members_r);
                endcase
            DEVICE:
                case (offset)
                    16'(gba_regs::GBA_DEV_ID): read_value = 64'(gba_regs::GBA_DEV_ID_VALUE);
                    16'(gba_regs::GBA_DEV_VERSION):
                        read_value = {32'd0, 16'(gba_regs::GBA_REGS_MAJOR), 16'(gba_regs::GBA_REGS_MINOR)};
                    16'(gba_regs::GBA_DEV_GROUPS): read_value = 64'(groups);
                    16'(gba_regs::GBA_DEV_MEMBERS_MAX): read_value = MEMBERS;
                    16'(gba_regs::GBA_DEV_BAD_ACCESS): read_value = bad_access;
                    16'(gba_regs::GBA_DEV_GROUPS_FREE): read_value = 64'(groups_free);
                    16'(gba_regs::GBA_DEV_PORTS): read_value = 64'(ports);
                    default: read_value = offset[3] ? uuid[127:64] : uuid[63:0];
                endcase
            PORT:
                if (in_events) read_value = 6'(egroup) < groups && cause_r[egroup] ? 64'(events_r) : 0;
                else if (offset == 16'(gba_regs::GBA_PORT_NUMBER)) read_value = 64'(port);
                else read_value = {32'd0, offset == 16'(gba_regs::GBA_PORT_IRQ_CAUSE) ? cause_r : mask_r};
            TABLE: if (is_bound && mapped_r[member_bit]) read_value = {table_r, 3'd0};
            default: ;
        endcase
    end

    // What must wait for release stores of its group: what could overtake or change them. An arrival
    // for the round under way must not. [ORD-3, REL-1, TAB-3, HOST-6]
    wire command = in_unit && write && offset == 16'(gba_regs::GBA_PORT_COMMAND);
    wire must_wait = reaches && (command ? blocked != 0 : in_group && blocked[GI'(group)] &&
        !(arrives && !late && !completes));
    wire scans = writes_control && write && takes && in_group && write_error == 0 && !with_ports &&
        (data[1] || (data[0] && !enabled));
    wire go = state == EXEC && reaches && !must_wait;

    // Set an event of the group at a port; a new one interrupts. [IRQ-1, IRQ-3, ERR-5, NOTE-1, NOTE-2]
    wire raise_error = go && group_error_now && group_error != 0 && concerned && interrupts;
    wire raise_round = (go && notifies && late) || state == RAISE;
    wire [4:0] raise_group = state == RAISE ? group : egroup;
    wire [5:0] raised = raise_error ? EVENT_ERROR : EVENT_ROUND;
    wire [5:0] events_now = cause_r[raise_group] ? events_r : 0;
    wire raise_new = (raised & ~events_now) != 0 && mask_r[raise_group];

    // SCAN: the check of a configuration, or a reset, word by word, on a device without ports.
    reg [9:0] scanned, ones;
    reg scan_bad;
    integer b;
    always @* begin
        ones = 0;
        for (b = 0; b < WORD; b = b + 1) ones = ones + 10'(members_r[b]);
    end
    wire scan_last = step == 16'(WORDS);
    wire [9:0] scan_count = scanned + ones;
    wire scan_error = scan_bad || (members_r & ~mapped_r) != 0 || scan_count != member_count || member_count == 0;

    // NOTIFY: the ports that asked, the lowest one first.
    reg [WORD-1:0] asking;
    reg [BITS-1:0] lowest;
    reg loaded;
    wire [WORD-1:0] asking_now = loaded ? asking : notify_r;
    always @* begin
        lowest = 0;
        for (b = WORD - 1; b >= 0; b = b - 1) if (asking_now[b]) lowest = BITS'(b);
    end
    reg [9:0] notified_port;
    assign notified = state == RAISE ? notified_port : 10'((32'(step) - 1) * WORD) + 10'(lowest);

    // The writes.
    wire poke = cu_we && (state == UNIT || cu_held);
    wire [61:0] round_error = {round_r[61:47], group_error, 1'b1, round_r[42:0]};
    always @* begin
        we = 0;
        w_group = GI'(group);
        w_word = WI'(group * WORDS) + WI'(word);
        w_pword = PWI'(group * PWORDS) + PWI'(bank >> BITS);
        w_entry = TI'(group * MEMBERS) + TI'(member);
        w_event = EI'(egroup * PORTS) + EI'(bank);
        w_bank = PI'(bank);
        config_w = config_r;
        round_w = round_r;
        members_w = value[WORD-1:0];
        arrived_w = arrived_now | WORD'(1) << member_bit;
        mapped_w = value != 0 ? mapped_r | WORD'(1) << member_bit : mapped_r & ~(WORD'(1) << member_bit);
        notify_w = notify_r | WORD'(1) << bank_bit;
        table_w = value[63:3];
        events_w = events_now | raised;
        cause_w = cause_r | 32'd1 << raise_group;
        data_w = value;
        count = 0;
        releases = 0;
        if (state == INIT) begin // [CFG-8]
            w_group = GI'(step);
            w_word = WI'(step);
            w_pword = PWI'(step);
            {config_w, members_w, mapped_w, notify_w, data_w} = 0;
            round_w = 0;
            {we[M_CONFIG], we[M_ROUND], we[M_GENERATION]} = {3{step < GROUPS}};
            we[M_BAD-1:M_COUNTER] = {10{step < GROUPS}};
            {we[M_MEMBERS], we[M_MAPPED], we[M_JOINED]} = {3{step < GROUPS * WORDS}};
            {we[M_CONCERNS], we[M_NOTIFY]} = {2{step < GROUPS * PWORDS}};
        end else if (go && in_group) begin
            if (group_error_now && group_error != 0 && concerned) begin // [ERR-1, ERR-2]
                we[M_ROUND] = 1;
                round_w = round_error;
                count[4'(gba_regs::GBA_COUNTER_ERR_ACCESS) - 1 + 4'(group_error)] = 1;
                {we[M_EVENTS], we[M_CAUSE]} = {2{raise_error && with_ports}};
            end
            if (group_error == 0 && arrives) begin
                count[4'(gba_regs::GBA_COUNTER_ARRIVALS)] = counted;
                count[4'(gba_regs::GBA_COUNTER_REPEATS)] = repeated;
                count[4'(gba_regs::GBA_COUNTER_LATE)] = late;
                count[4'(gba_regs::GBA_COUNTER_ROUNDS)] = completes;
                releases = 10'(late && mapped_r[member_bit]);
                {we[M_ROUND], we[M_ARRIVED]} = {2{counted}};
                round_w[42:32] = {1'b0, arrived_count + 10'd1};
                round_w[6'd48+6'(word)] = 1;
                if (completes) begin // [REL-1]: the arrived mask is empty before the first store
                    round_w[42:0] = {1'b1, 10'd0, 32'(SEQUENCE'(sequence_now + 1))};
                    round_w[61:48] = 0;
                end
            end
            if (group_error == 0 && notifies) begin // [NOTE-1, NOTE-2]
                {we[M_NOTIFY], we[M_ROUND]} = {2{current}};
                round_w[47] = 1;
                {we[M_EVENTS], we[M_CAUSE]} = {2{late}};
            end
            if (takes && write && group_error == 0 && !arrives && !notifies) begin
                if (aperture == TABLE) begin
                    we[M_MAPPED] = 1;
                    we[M_TABLE] = value != 0;
                end else if (writes_control) begin
                    we[M_CONFIG] = !scans;
                    config_w[12:10] = {data[3], data[2], data[0]};
                    we[M_ROUND] = !scans && ready && !(data[0] && data[2]);
                    round_w[41:32] = 0;
                    round_w[61:48] = 0;
                end else if (offset == 16'(gba_regs::GBA_REG_MEMBER_COUNT)) begin
                    we[M_CONFIG] = 1;
                    config_w[9:0] = data[9:0];
                end else if (offset == 16'(gba_regs::GBA_REG_SEQUENCE)) begin
                    we[M_ROUND] = 1;
                    round_w[31:0] = data;
                end else we[M_MEMBERS] = 1;
            end
        end else if (go && aperture == PORT && with_ports && takes && write && !page_error) begin
            if (in_events) begin // [IRQ-2]
                {we[M_EVENTS], we[M_CAUSE]} = 2'b11;
                events_w = events_now & ~data[5:0];
                cause_w = (events_now & ~data[5:0]) != 0 ? cause_r : cause_r & ~(32'd1 << egroup);
            end else we[M_MASK] = offset == 16'(gba_regs::GBA_PORT_IRQ_MASK);
        end else if (state == SCAN) begin
            if (data[1]) begin // [CFG-7]
                w_word = WI'(group * WORDS) + WI'(step);
                {config_w, members_w, mapped_w, data_w} = 0;
                round_w = 0;
                {we[M_CONFIG], we[M_ROUND]} = {2{step == 0}};
                {we[M_MEMBERS], we[M_MAPPED], we[M_JOINED]} = {3{!scan_last}};
            end else if (scan_last) begin
                we[M_CONFIG] = !scan_error;
                config_w[12:10] = {data[3], data[2], data[0]};
                we[M_ROUND] = scan_error;
                round_w = {round_r[61:47], CONFIG, 1'b1, round_r[42:0]};
                count[4'(gba_regs::GBA_COUNTER_ERR_CONFIG)] = scan_error;
            end
        end else if (state == RETIRE) begin
            releases = walk_releases;
            we[M_ROUND] = 1;
            round_w[47] = 0;
        end else if (state == NOTIFY) begin
            w_pword = PWI'(group * PWORDS) + PWI'(32'(step) - 1);
            notify_w = 0;
            we[M_NOTIFY] = step != 0 && !loaded;
        end else if (state == RAISE) begin
            w_event = EI'(group * PORTS) + EI'(notified);
            w_bank = PI'(notified);
            {we[M_EVENTS], we[M_CAUSE]} = 2'b11;
        end
        if (poke) begin // the memories of the control unit's state, at cu_index
            w_group = GI'(cu_index);
            w_word = WI'(cu_index);
            w_pword = PWI'(cu_index);
            w_entry = TI'(cu_index);
            w_event = EI'(cu_index);
            w_bank = PI'(cu_index);
            config_w = cu_data[13:0];
            round_w = cu_data[61:0];
            {members_w, arrived_w, mapped_w, notify_w} = {4{cu_data[WORD-1:0]}};
            table_w = cu_data[60:0];
            events_w = cu_data[5:0];
            cause_w = cu_data[31:0];
            data_w = cu_data;
            we = 1 << cu_sel;
        end
    end

    // The walker, and the register in which a store waits for the host's port. A repeated release
    // comes first: it belongs to an earlier round than what the walker has next. [REL-2, ARR-5]
    wire walk_valid;
    wire [WORD-1:0] walk_set;
    reg one_valid;
    reg [117:0] one; // group, member, port, address / 8, sequence
    wire rel_free = !rel_valid || rel_ready;
    wire [GROUPS-1:0] completed_group = go && arrives && completes ? GROUPS'(1) << group : 0;
    gba_walker #(.GROUPS(GROUPS), .MEMBERS(MEMBERS), .WORD(WORD), .WORDS(WORDS), .WI(WI), .TI(TI)) walker (
        .clk(clk), .rst(rst), .multicast(multicast), .start(completed_group), .busy(busy), .done(done),
        .group(walk_group), .releases(walk_releases), .retire(retire), .word_index(walk_word),
        .members(members_b), .mapped(mapped_b), .entry_index(walk_entry), .valid(walk_valid),
        .member(walk_member), .set(walk_set), .ready(rel_free && !one_valid)
    );
    always @(posedge clk) begin
        if (rel_free) begin
            rel_valid <= one_valid || walk_valid;
            rel_multicast <= multicast && !one_valid;
            {rel_group, rel_member, rel_port, rel_address[63:3], rel_sequence} <= one_valid ? one :
                {walk_group, walk_member, bound_b, table_b, round_b[31:0]};
            rel_address[2:0] <= 0;
            if (!with_ports) rel_port <= 0;
            rel_set <= one_valid ? 0 : walk_set;
            one_valid <= 0;
        end
        if (go && arrives && late && mapped_r[member_bit]) begin
            one_valid <= 1;
            one <= {group, member, bound_r, table_r, sequence_now};
        end
        if (rst) {rel_valid, one_valid} <= 0;
    end

    // The engine. [ERR-4, CMD-1]
    assign idle = state == IDLE && req_valid == 0 && blocked == 0 && !done && !cu_hold;
    assign req_ready = state == EXEC && !must_wait ? LANES'(1) << lane : 0;
    assign cu_request = state == UNIT;
    assign cu_held = state == IDLE && cu_hold && blocked == 0 && !done;
    assign {cu_write, cu_port, cu_offset, cu_value} = {write, port, offset, value};
    always @(posedge clk) begin
        resp_valid <= 0;
        irq_valid <= 0;
        case (state)
            INIT: begin
                step <= step + 1;
                if (step == INITS - 1) state <= IDLE;
            end
            IDLE:
                if (retire) begin
                    group <= walk_group;
                    state <= RETIRE;
                end else if (start) begin
                    state <= EXEC;
                    lane <= q_lane;
                    write <= req_write[q_lane];
                    width <= req_width[q_lane*4+:4];
                    port <= q_port;
                    bank <= q_bank;
                    {value, takes, aperture, group, egroup} <= {q_value, q_takes, q_aperture, q_group, q_egroup};
                    {offset, member, word} <= {q_offset, q_member, q_word};
                    waits[q_lane] <= 0;
                    waits_all[q_lane] <= 0;
                end
            EXEC: begin
                state <= IDLE;
                step <= 0;
                scanned <= 0;
                scan_bad <= 0;
                resp_valid <= !must_wait && !(reaches && (scans || in_unit));
                resp_lane <= lane;
                resp_error <= !reaches ? 0 : page_error ? (write && takes && in_pages ? CONFIG : ACCESS) :
                    in_group ? group_error : 0;
                resp_value <= write ? 0 : !reaches || !takes || page_error ? none : read_value;
                resp_completed <= reaches && arrives && completes;
                if (must_wait) begin
                    waits[lane] <= !command;
                    waits_all[lane] <= command;
                    waits_for[lane*5+:5] <= group;
                end else if (reaches) begin
                    if (scans) state <= SCAN;
                    if (in_unit) state <= UNIT;
                    // [PORT-2, ERR-3]
                    if (page_error || (group_error_now && group_error != 0 && !concerned))
                        bad_access <= bad_access + 1;
                    if ((raise_error && (!with_ports || raise_new)) || (raise_round && raise_new) ||
                        (we[M_MASK] && (cause_r & data & ~mask_r) != 0)) begin // [IRQ-4]
                        irq_valid <= 1;
                        irq_port <= with_ports ? port : 0;
                    end
                end
            end
            SCAN: begin
                step <= step + 1;
                if (step != 0) begin
                    scanned <= scan_count;
                    scan_bad <= scan_bad || (members_r & ~mapped_r) != 0;
                end
                if (scan_last) begin
                    state <= IDLE;
                    resp_valid <= 1;
                    resp_error <= !data[1] && scan_error ? CONFIG : 0;
                    if (!data[1] && scan_error && interrupts) irq_valid <= 1; // [ERR-5]
                    irq_port <= 0;
                end
            end
            UNIT:
                if (cu_done) begin
                    state <= IDLE;
                    resp_valid <= 1;
                    resp_value <= cu_result;
                end
            RETIRE: begin
                state <= asked ? NOTIFY : IDLE;
                step <= 0;
                loaded <= 0;
            end
            NOTIFY: begin // the outputs have word step - 1
                if (step == 0 || asking_now == 0) begin
                    loaded <= 0;
                    step <= step + 1;
                    if (step == PWORDS) state <= IDLE;
                end else begin
                    asking <= asking_now & ~(WORD'(1) << lowest);
                    loaded <= 1;
                    notified_port <= notified;
                    state <= RAISE;
                end
            end
            RAISE: begin
                state <= NOTIFY;
                irq_valid <= raise_new;
                irq_port <= notified;
            end
        endcase
        if (poke && cu_sel == M_UP) up[PI'(cu_index)] <= cu_data[0];
        if (poke && cu_sel == M_FREE) groups_free <= cu_data[5:0];
        if (poke && cu_sel == M_BAD) bad_access <= cu_data;
        if (rst) begin
            state <= INIT;
            step <= 0;
            up <= 0;
            bad_access <= 0;
            waits <= 0;
            waits_all <= 0;
            groups_free <= groups;
        end
    end
endmodule
