// SPDX-License-Identifier: BSD-3-Clause
// The datapath of a GBA: all that the accesses of hosts do, except the commands, which the control unit
// executes. One engine makes one access at a time; the walker makes the release stores beside it.
// README.md has the block diagram and the interfaces.
module gba_device #(
    parameter GROUPS = 32,
    parameter MEMBERS = 708,
    parameter PORTS = 708,
    parameter LANES = 4,
    parameter WORD = 64, // bits of a word of a mask
    parameter PATIENCE = 20, // a port that takes no store for 2^PATIENCE cycles is lost [PORT-6]
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
    output reg [LANES-1:0] req_wait, // the access waits; the lane may offer one of another port in its place
    input wire [LANES-1:0] req_write,
    input wire [LANES*4-1:0] req_width,
    input wire [LANES*10-1:0] req_port,
    input wire [LANES*32-1:0] req_address,
    input wire [LANES*64-1:0] req_value,
    // The end of an access. A posted write of the bus ignores it.
    output reg resp_valid,
    output reg [9:0] resp_port,
    output reg [63:0] resp_value,
    output reg [2:0] resp_error,
    output reg resp_completed,
    // Release stores. A bit of rel_ready: that port takes a store in the next cycle. It stays set until the port gets
    // one: a store that is due is offered now and then. With multicast, the stores of a round have the members of a
    // word in `rel_set`; the egress of each port takes them at once, and looks up the addresses.
    input wire [PORTS-1:0] rel_ready,
    output wire [PORTS-1:0] rel_lost, // the port counts as down; the control unit takes it down
    output wire rel_valid,
    output wire rel_multicast,
    output wire [4:0] rel_group,
    output wire [9:0] rel_member,
    output wire [9:0] rel_port,
    output wire [63:0] rel_address,
    output wire [31:0] rel_sequence,
    output wire [WORD-1:0] rel_set,
    // Interrupts: a message to the host of the port.
    output reg irq_valid,
    output reg [9:0] irq_port,
    // The control unit: the port of a command, which stays until cu_done, or until the port goes down. With cu_hold it
    // asks for the memories. While it is held, nothing else begins, and it reads and writes them by their number; the
    // value comes a cycle later. Then it also interrupts ports, and ends the command.
    output wire cu_valid,
    output wire [9:0] cu_port,
    input wire cu_hold,
    output wire cu_held,
    input wire cu_we,
    input wire [4:0] cu_sel,
    input wire [15:0] cu_index,
    input wire [63:0] cu_data,
    output reg [63:0] cu_value,
    input wire cu_irq_valid,
    output wire cu_irq_ready,
    input wire [9:0] cu_irq_port,
    input wire cu_done,
    output reg [63:0] bad_access
);
    // Each is at least 1, so that a parameter that is 0 is refused below.
    localparam BITS = WORD > 1 ? $clog2(WORD) : 1, LANE = LANES > 1 ? $clog2(LANES) : 1;
    localparam WORDS = MEMBERS > 1 ? (MEMBERS - 1 >> BITS) + 1 : 1, PWORDS = PORTS > 1 ? (PORTS - 1 >> BITS) + 1 : 1;
    localparam GI = GROUPS > 1 ? $clog2(GROUPS) : 1, PI = PORTS > 1 ? $clog2(PORTS) : 1;
    // The indexes have the group in their low bits: there is nothing to multiply.
    localparam WI = $clog2(WORDS << GI), PWI = $clog2(PWORDS << GI), TI = MEMBERS > 1 ? $clog2(MEMBERS << GI) : GI,
        EI = PORTS > 1 ? $clog2(PORTS << GI) : GI, MI = PORTS > 1 ? $clog2(PORTS * 4) : 2;
    localparam INITS = (WORDS > PWORDS ? WORDS : PWORDS) << GI;
`ifndef __ICARUS__ // version 11 has no $error here
    generate
        if (GROUPS < 1 || GROUPS > 32'(gba_regs::GBA_GROUPS)) $error("GROUPS is 1 to 32");
        if (MEMBERS < 1 || MEMBERS > 32'(gba_regs::GBA_MEMBERS_MAX)) $error("MEMBERS is 1 to 708");
        if (PORTS < 1 || PORTS > 32'(gba_regs::GBA_PORTS_MAX)) $error("PORTS is 1 to 708");
        if (LANES < 1 || LANES > 32) $error("LANES is 1 to 32");
        if (WORD != 64 && (WORD < 2 || WORD > 32 || 1 << BITS != WORD || MEMBERS > WORD || PORTS > WORD))
            $error("WORD is 64, or a power of two that is not less than MEMBERS and PORTS");
        if (PATIENCE < 1 || PATIENCE > 32) $error("PATIENCE is 1 to 32");
        if (SEQUENCE < 1 || SEQUENCE > 32) $error("SEQUENCE is 1 to 32");
    endgenerate
`endif
    localparam [2:0] PAGE = 1, DEVICE = 2, PORT = 3, TABLE = 4, BELL = 5; // gba_decode
    localparam [2:0] ACCESS = 3'(gba_regs::GBA_ERROR_ACCESS), MEMBER = 3'(gba_regs::GBA_ERROR_MEMBER),
        CONFIG = 3'(gba_regs::GBA_ERROR_CONFIG);
    localparam [5:0] EVENT_ERROR = 6'(gba_regs::GBA_IRQ_ERROR), EVENT_ROUND = 6'(gba_regs::GBA_IRQ_ROUND);
    localparam [2:0] INIT = 0, IDLE = 1, EXEC = 2, RETIRE = 5, NOTIFY = 6, RAISE = 7;
    // The memories as the control unit numbers them; the counters follow.
    localparam [4:0] M_CONFIG = 0, M_ROUND = 1, M_GENERATION = 2, M_MEMBERS = 3, M_ARRIVED = 4, M_MAPPED = 5,
        M_TABLE = 6, M_BOUND = 7, M_JOINED = 8, M_CONCERNS = 9, M_NOTIFY = 10, M_EVENTS = 11, M_CAUSE = 12,
        M_MASK = 13, M_UP = 14, M_FREE = 15, M_COUNTER = 16, M_QUEUE = 26, M_MAILBOX = 27, M_QUOTA = 28, M_BAD = 29;

    reg [2:0] state;
    reg [15:0] step; // of INIT and NOTIFY
    reg [PORTS-1:0] up;
    reg [5:0] groups_free;

    // The access that may start, and the decoding of its address. [ORD-1, ORD-2] A lane remembers one access that
    // waits, by its port, and the groups whose stores were due when it was looked at. [ORD-3]
    wire [GROUPS-1:0] busy; // stores of the group are due
    reg [LANES-1:0] waits, waits_all, may_start;
    reg [LANES*10-1:0] waits_port;
    reg [LANES*GROUPS-1:0] snapshot;
    reg [PORTS-1:0] commanded; // the control unit has not ended the command of the port
    wire any, done, settled;
    wire retire = state == IDLE && done;
    wire [LANE-1:0] q_lane;
    wire start = state == IDLE && !cu_held && !retire && any;
    integer l;
    always @* begin
        for (l = 0; l < LANES; l = l + 1) begin
            req_wait[l] = req_valid[l] && waits[l] && waits_port[l*10+:10] == req_port[l*10+:10] &&
                snapshot[l*GROUPS+:GROUPS] != 0;
            may_start[l] = req_valid[l] && !req_wait[l];
            if (state == EXEC && must_wait && lane == LANE'(l)) req_wait[l] = 1;
        end
    end
    gba_arbiter #(LANES, LANE) arbiter (clk, rst, may_start, start, any, q_lane);
    wire [63:0] q_value = req_value[q_lane*64+:64];
    wire [9:0] q_port = req_port[q_lane*10+:10];
    wire [2:0] q_aperture;
    wire [4:0] q_group;
    wire [15:0] q_offset;
    wire q_takes;
    gba_decode #(.MEMBERS(MEMBERS), .WORDS(WORDS)) decode (
        .address(req_address[q_lane*32+:32]), .width(req_width[q_lane*4+:4]), .write(req_write[q_lane]),
        .aperture(q_aperture), .group(q_group), .offset(q_offset), .takes(q_takes)
    );
    wire [9:0] q_member = q_aperture == TABLE ? q_offset[12:3] : q_value[9:0];
    wire q_masks = q_aperture == PAGE && q_offset != 16'(gba_regs::GBA_REG_ARRIVAL);
    // ARRIVED_MASK is at 0x80, MEMBER_MASK at 0x20.
    wire [3:0] q_word = q_masks ? (q_offset[7] ? q_offset[6:3] : q_offset[6:3] - 4'd4) : 4'(q_member >> BITS);
    wire [4:0] q_egroup = q_aperture == PORT ? q_offset[6:2] : q_group; // EVENTS is at 0x100

    // The access under way.
    reg [LANE-1:0] lane;
    reg write, takes;
    reg [3:0] width, word;
    reg [9:0] port, member;
    reg [2:0] aperture;
    reg [4:0] group, egroup;
    reg [15:0] offset;
    reg [63:0] value;
    reg held_back; // it began while the control unit waited for the memories

    // The memories. The engine reads while it looks at an access; the control unit while it has the memories. The
    // walker has copies of its own, of groups that the engine does not write meanwhile.
    wire drained, of_round, word_re, entry_re, offer, taken;
    wire [GI-1:0] done_group, walk_group;
    wire [9:0] walk_releases, walk_entry, walk_member;
    wire [3:0] walk_word;
    wire unit = cu_held;
    wire re = (state == IDLE || state == NOTIFY) && !cu_we;
    wire [GI-1:0] r_group = unit ? GI'(cu_index) : state != IDLE ? GI'(group) : retire ? done_group : GI'(q_group);
    wire [WI-1:0] r_word = unit ? WI'(cu_index) : WI'({q_word, r_group});
    wire [TI-1:0] r_entry = unit ? TI'(cu_index) : TI'({q_member, r_group});
    wire [9:0] notified; // the port that gets ROUND
    wire [9:0] r_bank = state == IDLE ? q_port : notified;
    wire [PWI-1:0] r_pword = unit ? PWI'(cu_index) : state == NOTIFY ? PWI'({step[3:0], r_group}) :
        PWI'({4'(q_port >> BITS), r_group});
    wire [EI-1:0] r_event = unit ? EI'(cu_index) : EI'({r_bank, state == IDLE ? GI'(q_egroup) : r_group});
    wire [PI-1:0] r_pbank = unit ? PI'(cu_index) : PI'(r_bank);
    wire [MI-1:0] r_mailbox = unit ? MI'(cu_index) : MI'({q_port, q_offset[4:3]});

    // The write ports, for the engine and the control unit.
    reg [M_BAD-1:0] we; // by the number of the memory
    reg [GI-1:0] w_group;
    reg [WI-1:0] w_word;
    reg [PWI-1:0] w_pword;
    reg [TI-1:0] w_entry;
    reg [EI-1:0] w_event;
    reg [PI-1:0] w_bank;
    reg [MI-1:0] w_mailbox;
    reg [13:0] config_w;
    reg [61:0] round_w;
    reg [31:0] cause_w;
    reg [63:0] data_w; // of the memories that only take a value
    reg [WORD-1:0] arrived_w, mapped_w, notify_w;
    reg [60:0] table_w;
    reg [5:0] events_w;
    reg [LANES*12-1:0] queue_w;
    reg [63:0] mailbox_w;

    wire [13:0] config_r;
    wire [61:0] round_r;
    wire [31:0] generation_r, cause_r, mask_r;
    wire [WORD-1:0] members_r, arrived_r, mapped_r, mapped_b, joined_r, concerns_r, notify_r;
    wire [60:0] table_r, table_b;
    wire [9:0] bound_r, bound_b;
    wire [5:0] events_r;
    wire [LANES*12-1:0] queue_r;
    wire [63:0] mailbox_r;
    wire [37:0] quota_r;
    gba_memory #(1 << GI, 14, GI, M_CONFIG) config_memory (clk, we[M_CONFIG], w_group, config_w, re, r_group, config_r);
    gba_memory #(1 << GI, 62, GI, M_ROUND) round_memory (clk, we[M_ROUND], w_group, round_w, re, r_group, round_r);
    gba_memory #(1 << GI, 32, GI, M_GENERATION) generation_memory (clk, we[M_GENERATION], w_group, data_w[31:0], re,
        r_group, generation_r);
    gba_memory #(WORDS << GI, WORD, WI, M_MEMBERS) members_memory (clk, we[M_MEMBERS], w_word, data_w[WORD-1:0], re,
        r_word, members_r);
    gba_memory #(WORDS << GI, WORD, WI, M_ARRIVED) arrived_memory (clk, we[M_ARRIVED], w_word, arrived_w, re, r_word,
        arrived_r);
    gba_memory #(WORDS << GI, WORD, WI, M_MAPPED) mapped_memory (clk, we[M_MAPPED], w_word, mapped_w, re, r_word,
        mapped_r);
    gba_memory #(WORDS << GI, WORD, WI) mapped_copy (clk, we[M_MAPPED], w_word, mapped_w, word_re,
        WI'({walk_word, walk_group}), mapped_b);
    gba_memory #(MEMBERS << GI, 61, TI, M_TABLE) table_memory (clk, we[M_TABLE], w_entry, table_w, re, r_entry,
        table_r);
    gba_memory #(MEMBERS << GI, 61, TI) table_copy (clk, we[M_TABLE], w_entry, table_w, entry_re,
        TI'({walk_entry, walk_group}), table_b);
    gba_memory #(MEMBERS << GI, 10, TI, M_BOUND) bound_memory (clk, we[M_BOUND], w_entry, data_w[9:0], re, r_entry,
        bound_r);
    gba_memory #(MEMBERS << GI, 10, TI) bound_copy (clk, we[M_BOUND], w_entry, data_w[9:0], entry_re,
        TI'({walk_entry, walk_group}), bound_b);
    gba_memory #(WORDS << GI, WORD, WI, M_JOINED) joined_memory (clk, we[M_JOINED], w_word, data_w[WORD-1:0], re,
        r_word, joined_r);
    gba_memory #(PWORDS << GI, WORD, PWI, M_CONCERNS) concerns_memory (clk, we[M_CONCERNS], w_pword, data_w[WORD-1:0],
        re, r_pword, concerns_r);
    gba_memory #(PWORDS << GI, WORD, PWI, M_NOTIFY) notify_memory (clk, we[M_NOTIFY], w_pword, notify_w,
        re && (state != NOTIFY || 32'(step) < PWORDS), r_pword, notify_r);
    gba_memory #(PORTS << GI, 6, EI, M_EVENTS) events_memory (clk, we[M_EVENTS], w_event, events_w, re, r_event,
        events_r);
    gba_memory #(1 << GI, LANES * 12, GI) queue_memory (clk, we[M_QUEUE], w_group, queue_w, re, r_group, queue_r);
    gba_memory #(PORTS, 32, PI, M_CAUSE) cause_memory (clk, we[M_CAUSE], w_bank, cause_w, re, r_pbank, cause_r);
    gba_memory #(PORTS, 32, PI, M_MASK) mask_memory (clk, we[M_MASK], w_bank, data_w[31:0], re, r_pbank, mask_r);
    gba_memory #(PORTS * 4, 64, MI, M_MAILBOX) mailbox_memory (clk, we[M_MAILBOX], w_mailbox, mailbox_w, re, r_mailbox,
        mailbox_r);
    gba_memory #(PORTS, 38, PI, M_QUOTA) quota_memory (clk, we[M_QUOTA], w_bank, data_w[37:0], re, r_pbank, quota_r);
    reg [9:0] count; // the counters that increase by one; RELEASES increases by `releases`
    reg [9:0] releases;
    wire [639:0] counter_r;
    genvar c;
    generate
        for (c = 0; c < 10; c = c + 1) begin : counters
            wire [63:0] now;
            gba_memory #(1 << GI, 64, GI, 5'(16 + c)) memory (clk, we[16+c] || count[c] || (c == 1 && releases != 0),
                w_group, we[16+c] ? data_w : now + (c == 1 ? 64'(releases) : 64'd1), re, r_group, now);
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
    wire [BITS-1:0] member_bit = member[BITS-1:0], bank_bit = port[BITS-1:0];
    wire is_bound = joined_r[member_bit] && bound_r == port;
    wire [WORD-1:0] arrived_now = live[word] ? arrived_r : 0;
    wire [63:0] status = {60'd0, failed, complete, arrived_count != 0, ready};

    wire [2:0] arrival_error;
    wire current, counted, repeated, late, completes;
    gba_arrival #(.MEMBERS(MEMBERS), .SEQUENCE(SEQUENCE)) arrival (
        .value(value), .ready(ready), .generation(generation_r[15:0]), .in_mask(members_r[member_bit]),
        .bound(is_bound), .arrived(arrived_now[member_bit]), .sequence_now(sequence_now), .arrived_count(arrived_count),
        .member_count(member_count), .error(arrival_error), .current(current), .counted(counted),
        .repeated(repeated), .late(late), .completes(completes)
    );

    // What the access is.
    wire reaches = port < ports && up[PI'(port)]; // [PORT-3]
    wire in_group = (aperture == PAGE || aperture == TABLE || aperture == BELL) && 6'(group) < groups;
    wire in_pages = aperture == DEVICE || aperture == PORT;
    wire arrives = in_group && takes && write && (aperture == BELL ? offset == 0 :
        aperture == PAGE && offset == 16'(gba_regs::GBA_REG_ARRIVAL));
    wire notifies = in_group && takes && aperture == BELL && offset != 0;
    wire in_events = offset >= 16'(gba_regs::GBA_PORT_EVENTS);
    wire in_mailbox = aperture == PORT && takes && !in_events && offset >= 16'(gba_regs::GBA_PORT_GROUP);
    wire [31:0] data = value[31:0];
    wire [63:0] none = width >= 8 ? {64{1'b1}} : (64'd1 << {width, 3'd0}) - 64'd1; // [ACC-4]

    // The error of a write to a register or an entry. [CFG-9, TAB, PORT-5]
    wire [2:0] write_error = aperture != TABLE ? CONFIG : !is_bound ? MEMBER :
        value != 0 && (enabled || value[2:0] != 0) ? CONFIG : 0;
    wire group_error_now = in_group && !(takes && !write);
    wire [2:0] group_error = !takes ? ACCESS : !write ? 0 : arrives || notifies ? arrival_error : write_error;
    wire event_error = 6'(egroup) >= groups || data[31:4] != 0; // [IRQ-2]
    wire page_error = !in_group && (!in_pages || !takes ||
        (write && aperture == PORT && in_events && event_error)); // [ERR-3, IRQ-2]
    wire concerned = concerns_r[bank_bit]; // [PORT-2]

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
                    16'(gba_regs::GBA_DEV_MEMBERS_MAX): read_value = 64'(MEMBERS);
                    16'(gba_regs::GBA_DEV_BAD_ACCESS): read_value = bad_access;
                    16'(gba_regs::GBA_DEV_GROUPS_FREE): read_value = 64'(groups_free);
                    16'(gba_regs::GBA_DEV_PORTS): read_value = 64'(ports);
                    default: read_value = offset[3] ? uuid[127:64] : uuid[63:0];
                endcase
            PORT:
                if (in_events) read_value = 6'(egroup) < groups && cause_r[egroup] ? 64'(events_r) : 0;
                else if (in_mailbox)
                    read_value = {width == 8 ? mailbox_r[63:32] : 32'd0, mailbox_r[offset[2]*32+:32]};
                else case (offset)
                    16'(gba_regs::GBA_PORT_NUMBER): read_value = 64'(port);
                    16'(gba_regs::GBA_PORT_QUOTA): read_value = 64'(quota_r[31:0]);
                    16'(gba_regs::GBA_PORT_HELD): read_value = 64'(quota_r[37:32]);
                    16'(gba_regs::GBA_PORT_IRQ_CAUSE): read_value = 64'(cause_r);
                    default: read_value = 64'(mask_r);
                endcase
            TABLE: if (is_bound && mapped_r[member_bit]) read_value = {table_r, 3'd0};
            default: ;
        endcase
    end

    // What waits for release stores of its group: what could overtake or change them. An arrival for the round under
    // way must not. [ORD-3, REL-1, TAB-3, HOST-6] A command waits for the stores that were due when it was first looked at,
    // two commands of a lane one after the other. An access of a port whose command has not ended waits. [CMD-1]
    // While the control unit waits for the memories, no new stores become due: else the walker would not get there.
    wire command = in_mailbox && write && offset == 16'(gba_regs::GBA_PORT_COMMAND);
    wire mine = waits[lane] && waits_port[lane*10+:10] == port;
    wire unfinished = commanded[PI'(port)];
    // A group knows one access of each lane that waits for it. One arrival with stores may overtake the others; then all
    // of them come before the next one. [ORD-3]
    wire [LANES-1:0] queued, overtaken;
    wire [LANES*10-1:0] queued_port;
    assign {overtaken, queued, queued_port} = queue_r;
    wire [LANES-1:0] own = LANES'(1) << lane;
    wire in_queue = queued[lane] && queued_port[lane*10+:10] == port;
    wire [LANES-1:0] leaves = in_queue ? own : 0;
    wire overtakes = arrives && (in_queue ? !overtaken[lane] && overtaken != 0 : queued != 0);
    wire plain = arrives && !late && !completes;
    wire must_wait = reaches && (unfinished || (command ? busy != 0 && !(mine && waits_all[lane]) :
        in_group && !plain && (busy[GI'(group)] || overtakes || (arrives && held_back))));
    wire go = state == EXEC && reaches && !must_wait;

    // Set an event of the group at a port; a new one interrupts. [IRQ-1, IRQ-3, ERR-5, NOTE-1, NOTE-2]
    wire raise_error = go && group_error_now && group_error != 0 && concerned && interrupts;
    wire raise_round = (go && notifies && late) || state == RAISE;
    wire [4:0] raise_group = state == RAISE ? group : egroup;
    wire [5:0] raised = raise_error ? EVENT_ERROR : EVENT_ROUND;
    wire [5:0] events_now = cause_r[raise_group] ? events_r : 0;
    wire raise_new = (raised & ~events_now) != 0 && mask_r[raise_group];

    // NOTIFY: the ports that asked, the lowest one first.
    reg [WORD-1:0] asking;
    reg loaded;
    wire [WORD-1:0] asking_above;
    wire [WORD-1:0] asking_now = loaded ? asking : notify_r;
    wire [BITS-1:0] lowest;
    gba_first #(WORD, BITS) ask (asking_now, asking_above, lowest);
    reg [9:0] notified_port;
    assign notified = state == RAISE ? notified_port : 10'({4'(step - 16'd1), lowest});

    // The writes.
    wire poke = cu_we && cu_held;
    wire [61:0] round_error = {round_r[61:47], group_error, 1'b1, round_r[42:0]};
    always @* begin
        we = 0;
        w_group = GI'(group);
        w_word = WI'({word, w_group});
        w_pword = PWI'({4'(port >> BITS), w_group});
        w_entry = TI'({member, w_group});
        w_event = EI'({port, GI'(egroup)});
        w_bank = PI'(port);
        config_w = config_r;
        round_w = round_r;
        arrived_w = arrived_now | WORD'(1) << member_bit;
        mapped_w = value != 0 ? mapped_r | WORD'(1) << member_bit : mapped_r & ~(WORD'(1) << member_bit);
        notify_w = notify_r | WORD'(1) << bank_bit;
        table_w = value[63:3];
        events_w = events_now | raised;
        cause_w = cause_r | 32'd1 << raise_group;
        data_w = value;
        w_mailbox = MI'({port, offset[4:3]});
        mailbox_w = width == 8 ? value : offset[2] ? {data, mailbox_r[31:0]} : {mailbox_r[63:32], data};
        queue_w = queue_r;
        for (l = 0; l < LANES; l = l + 1)
            if (state == EXEC && !queued[l] && lane == LANE'(l)) queue_w[l*10+:10] = port; // counts if it is queued
        count = 0;
        releases = 0;
        if (state == INIT) begin // [CFG-8]
            w_group = GI'(step);
            w_word = WI'(step);
            w_pword = PWI'(step);
            {config_w, mapped_w, notify_w, data_w, queue_w} = 0;
            round_w = 0;
            {we[M_CONFIG], we[M_ROUND], we[M_GENERATION]} = {3{step < 1 << GI}};
            we[M_QUEUE:M_COUNTER] = {11{step < 1 << GI}};
            {we[M_MEMBERS], we[M_MAPPED], we[M_JOINED]} = {3{32'(step) < WORDS << GI}};
            {we[M_CONCERNS], we[M_NOTIFY]} = {2{32'(step) < PWORDS << GI}};
        end else if (go && in_group) begin
            if (group_error_now && group_error != 0 && concerned) begin // [ERR-1, ERR-2]
                we[M_ROUND] = 1;
                round_w = round_error;
                count[4'(gba_regs::GBA_COUNTER_ERR_ACCESS) - 1 + 4'(group_error)] = 1;
                {we[M_EVENTS], we[M_CAUSE]} = {2{raise_error}};
            end
            if (group_error == 0 && arrives) begin
                count[4'(gba_regs::GBA_COUNTER_ARRIVALS)] = counted;
                count[4'(gba_regs::GBA_COUNTER_REPEATS)] = repeated;
                count[4'(gba_regs::GBA_COUNTER_LATE)] = late;
                count[4'(gba_regs::GBA_COUNTER_ROUNDS)] = completes;
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
            if (takes && write && group_error == 0 && aperture == TABLE) begin
                we[M_MAPPED] = 1;
                we[M_TABLE] = value != 0;
            end
        end else if (go && aperture == PORT && takes && write && !page_error) begin
            if (in_events) begin // [IRQ-2]
                {we[M_EVENTS], we[M_CAUSE]} = 2'b11;
                events_w = events_now & ~data[5:0];
                cause_w = (events_now & ~data[5:0]) != 0 ? cause_r : cause_r & ~(32'd1 << egroup);
            end else if (in_mailbox) we[M_MAILBOX] = 1;
            else we[M_MASK] = 1;
        end else if (state == RETIRE) begin
            releases = walk_releases;
            we[M_ROUND] = ends && asked;
            round_w[47] = 0;
        end else if (state == NOTIFY) begin
            w_pword = PWI'({4'(step - 16'd1), w_group});
            notify_w = 0;
            we[M_NOTIFY] = step != 0 && !loaded;
        end else if (state == RAISE) begin
            w_event = EI'({notified, w_group});
            w_bank = PI'(notified);
            {we[M_EVENTS], we[M_CAUSE]} = 2'b11;
        end
        if (state == EXEC && reaches && !unfinished && in_group) begin
            we[M_QUEUE] = 1;
            if (must_wait) queue_w[LANES*10+:LANES] = queued | own;
            else begin
                queue_w[LANES*10+:LANES] = queued & ~leaves;
                queue_w[LANES*11+:LANES] = (arrives && !plain && overtaken == 0 ? queued : overtaken) & ~leaves;
            end
        end
        if (poke) begin // the memories of the control unit's state, at cu_index
            w_group = GI'(cu_index);
            w_word = WI'(cu_index);
            w_pword = PWI'(cu_index);
            w_entry = TI'(cu_index);
            w_event = EI'(cu_index);
            w_bank = PI'(cu_index);
            w_mailbox = MI'(cu_index);
            mailbox_w = cu_data;
            config_w = cu_data[13:0];
            round_w = cu_data[61:0];
            {arrived_w, mapped_w, notify_w} = {3{cu_data[WORD-1:0]}};
            table_w = cu_data[60:0];
            events_w = cu_data[5:0];
            cause_w = cu_data[31:0];
            data_w = cu_data;
            queue_w = 0; // a port has gone down
            we = 1 << cu_sel;
        end
    end

    // The walker, and the way to the ports.
    wire releases_one = late && mapped_r[member_bit];
    wire starts = go && arrives && (completes || releases_one);
    wire ends = drained && of_round; // the round's events are due [NOTE-1]
    wire [31:0] walk_sequence;
    wire [WORD-1:0] walk_set;
    reg [WORDS-1:0] start_words;
    always @* for (l = 0; l < WORDS; l = l + 1)
        start_words[l] = completes ? 32'(member_count) > l * WORD : word == 4'(l);
    gba_walker #(GROUPS, GI, WORD, WORDS) walker (
        .clk(clk), .rst(rst), .multicast(multicast), .pause(cu_hold), .start(starts),
        .start_group(GI'(group)), .start_one(!completes), .start_member(member),
        .start_sequence(completes ? 32'(SEQUENCE'(sequence_now + 1)) : sequence_now), .start_words(start_words),
        .busy(busy), .settled(settled), .done(done), .drained(drained), .of_round(of_round), .done_group(done_group),
        .releases(walk_releases), .retire(retire), .word_re(word_re), .word(walk_word), .mapped(mapped_b),
        .entry_re(entry_re), .entry(walk_entry), .offer(offer), .group(walk_group), .member(walk_member),
        .set(walk_set), .sequence_of(walk_sequence), .takes(taken)
    );
    gba_egress #(PORTS, PATIENCE, 119 + WORD) egress (
        .clk(clk), .rst(rst), .ready(rel_ready), .lost(rel_lost), .offer(offer), .all(multicast), .port(bound_b),
        .store({multicast, 5'(walk_group), walk_member, bound_b, table_b, walk_sequence, walk_set}), .takes(taken),
        .valid(rel_valid),
        .given({rel_multicast, rel_group, rel_member, rel_port, rel_address[63:3], rel_sequence, rel_set})
    );
    assign rel_address[2:0] = 0;

    // The control unit gets the commands of the ports in turn, and reads what hosts and engine change.
    reg [9:0] turn;
    assign {cu_valid, cu_port} = {commanded[PI'(turn)], turn};
    assign cu_held = state == IDLE && cu_hold && settled;
    assign cu_irq_ready = cu_held;
    wire ends_command = cu_held && cu_valid && cu_done;
    wire takes_down = poke && cu_sel == M_UP && !cu_data[0]; // its command is dropped
    wire drops = takes_down && commanded[PI'(cu_index)];
    always @* case (cu_sel)
        M_ROUND: cu_value = 64'(round_r);
        M_MAPPED: cu_value = 64'(mapped_r);
        M_NOTIFY: cu_value = 64'(notify_r);
        M_EVENTS: cu_value = 64'(events_r);
        M_CAUSE: cu_value = 64'(cause_r);
        M_MASK: cu_value = 64'(mask_r);
        M_MAILBOX: cu_value = mailbox_r;
        default: cu_value = 0;
    endcase

    // The engine. [ERR-4]
    assign idle = state == IDLE && req_valid == 0 && busy == 0 && commanded == 0 && !done && !cu_hold;
    assign req_ready = state == EXEC && !must_wait ? LANES'(1) << lane : 0;
    always @(posedge clk) begin
        resp_valid <= 0;
        irq_valid <= cu_held && cu_irq_valid;
        if (cu_held) irq_port <= cu_irq_port;
        snapshot <= snapshot & {LANES{busy}};
        case (state)
            INIT: begin
                step <= step + 1;
                if (32'(step) == INITS - 1) state <= IDLE;
            end
            IDLE:
                if (retire) begin
                    group <= 5'(done_group);
                    state <= RETIRE;
                end else if (start) begin
                    state <= EXEC;
                    lane <= q_lane;
                    held_back <= cu_hold;
                    write <= req_write[q_lane];
                    width <= req_width[q_lane*4+:4];
                    port <= q_port;
                    {value, takes, aperture, group, egroup} <= {q_value, q_takes, q_aperture, q_group, q_egroup};
                    {offset, member, word} <= {q_offset, q_member, q_word};
                end
            EXEC: begin
                state <= IDLE;
                step <= 0;
                resp_valid <= !must_wait && !(reaches && command);
                resp_port <= port;
                resp_error <= !reaches ? 0 : page_error ? (write && takes && in_pages ? CONFIG : ACCESS) :
                    in_group ? group_error : 0;
                resp_value <= write ? 0 : !reaches || !takes || page_error ? none : read_value;
                resp_completed <= reaches && arrives && completes;
                if (!must_wait) begin
                    if (mine) waits[lane] <= 0;
                end else if (unfinished) ;
                else if (!waits[lane] || (command && !waits_all[lane])) begin
                    waits[lane] <= 1;
                    waits_all[lane] <= command;
                    waits_port[lane*10+:10] <= port;
                    snapshot[lane*GROUPS+:GROUPS] <= command ? busy : busy & GROUPS'(1) << group;
                end else if (mine) snapshot[lane*GROUPS+:GROUPS] <= busy & GROUPS'(1) << group;
                if (reaches && !must_wait) begin
                    if (command) commanded[PI'(port)] <= 1;
                    // [PORT-2, ERR-3]
                    if (page_error || (group_error_now && group_error != 0 && !concerned))
                        bad_access <= bad_access + 1;
                    if (((raise_error || raise_round) && raise_new) ||
                        (we[M_MASK] && (cause_r & data & ~mask_r) != 0)) begin // [IRQ-4]
                        irq_valid <= 1;
                        irq_port <= port;
                    end
                end
            end
            RETIRE: begin
                state <= ends && asked ? NOTIFY : IDLE;
                step <= 0;
                loaded <= 0;
            end
            NOTIFY: begin // the outputs have word step - 1
                if (step == 0 || asking_now == 0) begin
                    loaded <= 0;
                    step <= step + 1;
                    if (32'(step) == PWORDS) state <= IDLE;
                end else begin
                    asking <= asking_now & asking_above;
                    loaded <= 1;
                    notified_port <= notified;
                    state <= RAISE;
                end
            end
            default: begin // RAISE
                state <= NOTIFY;
                irq_valid <= raise_new;
                irq_port <= notified;
            end
        endcase
        turn <= cu_valid ? turn : turn + 1 >= ports ? 0 : turn + 1;
        if (ends_command || drops) begin
            commanded[ends_command ? PI'(turn) : PI'(cu_index)] <= 0;
            {resp_valid, resp_value, resp_error, resp_completed} <= {1'b1, 68'd0};
            resp_port <= ends_command ? turn : cu_index[9:0];
        end
        if (poke && cu_sel == M_UP) begin
            up[PI'(cu_index)] <= cu_data[0];
            for (l = 0; l < LANES; l = l + 1) if (waits_port[l*10+:10] == cu_index[9:0]) waits[l] <= 0;
        end
        if (poke && cu_sel == M_FREE) groups_free <= cu_data[5:0];
        if (poke && cu_sel == M_BAD) bad_access <= cu_data;
        if (rst) begin
            state <= INIT;
            step <= 0;
            up <= 0;
            bad_access <= 0;
            waits <= 0;
            commanded <= 0;
            turn <= 0;
            {resp_valid, irq_valid} <= 0;
            groups_free <= groups;
        end
    end
`ifdef FORMAL
    // What lanes, ports and control unit may rely on, and what they must do. A request stays until it is taken or waits.
    reg begun = 0, unit_kept, reset_then;
    reg [LANES-1:0] kept;
    reg [LANES*111-1:0] request_then;
    wire [LANES*111-1:0] request;
    reg [9:0] unit_then;
    reg [144:0] straps_then;
    reg [PORTS-1:0] ready_then;
    generate
        for (c = 0; c < LANES; c = c + 1) assign request[c*111+:111] =
            {req_write[c], req_width[c*4+:4], req_port[c*10+:10], req_address[c*32+:32], req_value[c*64+:64]};
    endgenerate
    always @(posedge clk) begin
        begun <= 1;
        reset_then <= rst;
        kept <= rst ? 0 : req_valid & ~req_ready & ~req_wait;
        request_then <= request;
        unit_kept <= !rst && cu_valid && !ends_command && !drops;
        unit_then <= cu_port;
        straps_then <= {groups, ports, multicast, uuid};
        ready_then <= rel_ready;
        if (begun && !rst) begin
            for (l = 0; l < LANES; l = l + 1) begin
                if (kept[l]) assert (req_valid[l] && request[l*111+:111] == request_then[l*111+:111]);
                // Others would wait for it.
                if (waits[l]) assert (up[PI'(waits_port[l*10+:10])]);
                if (state == EXEC && in_group && queued[l]) assert (up[PI'(queued_port[l*10+:10])]);
            end
            assert ((req_ready & (~req_valid | req_wait)) == 0 && (req_ready & (req_ready - 1)) == 0);
            if (unit_kept) assert (cu_valid && cu_port == unit_then);
            assert (!(cu_we || cu_irq_valid || cu_done) || (cu_held && cu_hold));
            assert (!(cu_done && cu_we) && (!cu_done || cu_valid));
            if (rel_valid) assert (rel_multicast || ready_then[PI'(rel_port)]);
            assert ({groups, ports, multicast, uuid} == straps_then && 32'(groups) <= GROUPS && 32'(ports) <= PORTS);
            if (reset_then) assert (state == INIT && busy == 0 && !(resp_valid || irq_valid || rel_valid));
        end
    end
`endif
endmodule
