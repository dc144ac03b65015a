# SPDX-License-Identifier: BSD-3-Clause
# The design as a shared library, which is also one of gba_dut.h, and programs that are linked with it instead of the model. GNU make; it is no
# part of the build of GBA, and runs after it in a directory of its own:
#
#   make -C build/check/rtl -f ../../../sim/rtl/rtl.mk
#
# TOP: the sources. BUILD: where GBA is built.
TOP ?= ../../..
BUILD ?= ..
VERILATOR ?= verilator
MUNGE_LIBS := $(shell sed -n 's/^MUNGE_LIBS = //p' $(BUILD)/Makefile)
YOSYS ?= yosys
LANES ?= 4
# What shows the adapter's caller the state of the design. The device itself does not need it.
TRACE ?= +define+GBA_TRACE
root := $(shell $(VERILATOR) --getenv VERILATOR_ROOT 2>/dev/null)
sources := gba_regs.sv $(addprefix $(TOP)/sim/rtl/,gba_memory.sv gba_decode.sv gba_first.sv gba_arbiter.sv \
	gba_arrival.sv gba_egress.sv gba_walker.sv gba_device.sv)
warnings := -Wall -Wno-UNUSEDPARAM -Wno-UNUSEDSIGNAL
CFLAGS := -std=gnu11 -g -O2 -Wall -Wextra -Werror -fPIC -I$(TOP)
CXXFLAGS := -std=gnu++17 -g -O2 -fPIC -DLANES=$(LANES)u -I$(TOP) -Iverilated -I$(root)/include -I$(root)/include/vltstd
firmware := $(addprefix firmware_,model.o event.o group.o control.o port.o)
runtime := verilated.o verilated_dpi.o verilated_threads.o

all: libgbartl.so

gba_regs.sv: $(TOP)/gba/spec/device.md $(TOP)/gba/spec/map.awk
	awk -v form=sv -f $(TOP)/gba/spec/map.awk $< >$@

# The number of lanes of the objects that are here.
lanes.$(LANES):
	rm -f lanes.*
	touch $@

verilated/Vgba_device__ALL.cpp: $(sources) lanes.$(LANES) $(TOP)/sim/rtl/rtl.mk
	$(VERILATOR) --cc -O3 --output-split 1000000 --x-initial unique --assert $(warnings) $(TRACE) +define+FORMAL -GPATIENCE=12 -GLANES=$(LANES) --top-module gba_device \
		--Mdir verilated $(sources)
	$(MAKE) -C verilated -f Vgba_device.mk Vgba_device__ALL.cpp
	touch $@ # verilator writes nothing that is the same

design.o: verilated/Vgba_device__ALL.cpp
	$(CXX) $(CXXFLAGS) -c $< -o $@

$(runtime): %.o: $(root)/include/%.cpp
	$(CXX) $(CXXFLAGS) -c $< -o $@

headers := $(wildcard $(TOP)/sim/model/*.h $(TOP)/gba/spec/*.h)
# The model as the firmware of the control unit: the functions of model.h are the adapter's, so these have other names.
renamed := $(foreach name,init port_up port_down access arrive,-Dgba_model_$(name)=gba_firmware_$(name))
firmware_%.o: $(TOP)/sim/model/%.c $(headers) $(TOP)/sim/rtl/rtl.mk
	$(CC) $(CFLAGS) $(renamed) -c $< -o $@

adapter.o: $(TOP)/sim/rtl/adapter.cc $(headers) design.o
	$(CXX) $(CXXFLAGS) -Wall -Werror -c $< -o $@

libgbartl.so: design.o adapter.o $(runtime) $(firmware)
	$(CXX) -shared -o $@ $^ -Wl,-Bsymbolic -pthread

# gba-switchd and the conformance suite, from the objects of the build.
switchd = $(shell find $(BUILD)/sim/switch $(BUILD)/gba -name '*gba_switchd-*.o')
gba-switchd-rtl: libgbartl.so $(BUILD)/sim/switch/gba-switchd
	$(CC) -o $@ $(switchd) $(BUILD)/gba/.libs/libgbatext.a $(BUILD)/sim/.libs/libgbaprotocol.a -L. -lgbartl -levent_core $(MUNGE_LIBS) \
		-Wl,-rpath,'$$ORIGIN' -pthread

suite := $(addprefix $(BUILD)/tests/conformance/,main.o bench.o life.o rounds.o registers.o backends.o) \
	$(addprefix $(BUILD)/tests/unit/dev/,fake_kernel.o fake_driver.o)
conformance: libgbartl.so $(suite) $(BUILD)/gba/.libs/libgbacore.a
	$(CC) -o $@ $(suite) \
		-L. -lgbartl $(BUILD)/gba/.libs/libgbacore.a -lcmocka $(MUNGE_LIBS) \
		-lhwloc \
		-Wl,-rpath,'$$ORIGIN' -pthread -lm -ldl

# The rule tests of the model, on the design.
rules := model model_errors model_rounds control ports
test_%: $(TOP)/tests/unit/model/test_%.c libgbartl.so $(headers) $(wildcard $(TOP)/tests/unit/*.h $(TOP)/tests/unit/model/*.h)
	$(CC) $(CFLAGS) $< -o $@ -L. -lgbartl -lcmocka -Wl,-rpath,'$$ORIGIN'
rules: $(addprefix test_,$(rules))

.PHONY: all rules
.DELETE_ON_ERROR:

# The model with faults, as a library of gba_dut.h.
dut-faulty.so: $(TOP)/tests/rtl/faults.sed $(wildcard $(TOP)/sim/model/*.c) $(headers)
	rm -rf faulty
	mkdir faulty
	for file in $(TOP)/sim/model/*.c; do sed -f $< $$file >faulty/$${file##*/} || exit; done
	$(CC) $(CFLAGS) -w -shared -o $@ faulty/*.c -Wl,-Bsymbolic

# The parameters with VALUES="NAME=NUMBER ...".
GROUPS ?= 8
MEMBERS ?= 64
VALUES ?= GROUPS=$(GROUPS) MEMBERS=$(MEMBERS) PORTS=$(MEMBERS)
read := read_verilog -sv $(sources); chparam $(foreach v,$(VALUES),-set $(subst =, ,$(v))) gba_device; \
	hierarchy -check -top gba_device; proc; check -assert
lint: $(sources)
	$(VERILATOR) --lint-only $(warnings) $(addprefix -G,$(VALUES)) --top-module gba_device $(sources)
	$(YOSYS) -q -p "$(read)"

# The flows of two vendors. The design has no latch.
synth-%: $(sources)
	$(YOSYS) -q -l $@.log -p "$(read); select -assert-none t:*latch*; synth_$*"

# Numbers of README.md.
size: $(sources)
	$(YOSYS) -q -p "$(read); flatten; opt -full; tee -o size-$(GROUPS)-$(MEMBERS).txt stat; \
		memory -nomap; opt_clean; techmap; opt; abc -g AND,OR,XOR -script +strash;if,-g,-K,6;strash;dch;map; \
		opt_clean; tee -a size-$(GROUPS)-$(MEMBERS).txt stat; tee -a size-$(GROUPS)-$(MEMBERS).txt ltp -noff"
.PHONY: lint size
