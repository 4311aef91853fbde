# What all Cortex-M boards share. Before it: CPU and FLOAT, and MACHINE where QEMU has the board.
#   STACK_BYTES  of the stack
#   OVERLAP      transfers beside computing: on: an interrupt moves TICK_BYTES every TICK_NS, and so does the engine while it waits
#                for one; off: only the engine. To measure as over a wire of that rate: paced: only the interrupt; blocking: paced,
#                and every transfer is waited for where it is issued
#   COUNT=1      instructions by kernel; COUNT=trace: of every instruction of the program; ICOUNT=1: time goes by instructions (both in QEMU)
CC := arm-none-eabi-gcc
SIZE := arm-none-eabi-size
OBJDUMP := arm-none-eabi-objdump
FIRMWARE := firmware.elf
PROCESSOR_NAME := $(patsubst -mcpu=%,%,$(CPU))
STACK_BYTES ?= $(if $(COUNT),$(shell expr $(STACK_BYTES.$(PROCESSOR_NAME)) + 64),$(STACK_BYTES.$(PROCESSOR_NAME)))
OVERLAP ?= off
TICK_NS ?= 8000
TICK_BYTES ?= 8
# OFF, SHARED and PACED of timer.c: 1: only the waiting program moves bytes; 2: also the timer's interrupt; 3: only the interrupt.
WHO_CARRIES_ON := $(or $(patsubst %,1,$(filter off,$(OVERLAP))),$(patsubst %,2,$(filter on,$(OVERLAP))),\
                       $(patsubst %,3,$(filter paced blocking,$(OVERLAP))),$(error OVERLAP is on, off, paced or blocking))
BOARD_FLAGS := $(CPU) -mthumb $(FLOAT) -ffreestanding -fno-math-errno -fno-tree-loop-distribute-patterns -fno-schedule-insns \
               -Iboard -fcallgraph-info=su
# ccache, which the compiler may be a name of, does not keep what -fcallgraph-info writes.
export CCACHE_DISABLE := 1
ifeq ($(OVERLAP),blocking)
BOARD_FLAGS += -DPOET_BLOCKING
endif
ifdef COUNT
ICOUNT := 1
BOARD_FLAGS += -DPOET_COUNT -DPOET_INSTRUCTION_NS=16U $(if $(filter trace,$(COUNT)),-DPOET_TRACE)
endif
ifdef ICOUNT
MACHINE += -icount shift=4,sleep=off  # 16 ns for each: 62.5 MHz
endif
STATED_BYTES := $(STATIC_BYTES.$(PROCESSOR_NAME))+$(STACK_BYTES)$(if $(COUNT),+1024)
NUMBERS := poet_window_bytes=$(WINDOW_BYTES) poet_stack_bytes=$(STACK_BYTES) poet_stated_bytes=$(STATED_BYTES) \
           poet_overlap=$(WHO_CARRIES_ON) poet_tick_ns=$(TICK_NS) poet_tick_bytes=$(TICK_BYTES)
LINK_FLAGS := -nostdlib -nostartfiles -T board/link.ld -lgcc -Wl,--no-warn-rwx-segments,-z,noexecstack,-Map=build/firmware.map \
              $(NUMBERS:%=-Wl,--defsym=%)
BOARD_LINKS := board/link.ld board/memory.ld

# The deepest chain of calls against the stack that the linker reserves; STACK_CHECK=no leaves it out. What the processor pushes
# for an interrupt: 8 words, with floating point 26.
FRAME := $(if $(findstring hard,$(FLOAT)),104,32)
ifneq ($(STACK_CHECK),no)
BOARD_CHECKS := build/stack.txt
build/stack.txt: build/$(FIRMWARE) board/stack.awk plan.mk
	@$(OBJDUMP) -t -d $< > build/firmware.txt
	@awk -f board/stack.awk -v kernels="$(KERNELS)" -v reserved=$(STACK_BYTES) -v frame=$(FRAME) \
	  $(SOURCES:%.c=build/%.ci) build/firmware.txt > $@.new || { cat $@.new; exit 1; }
	@mv $@.new $@ && cat $@
endif

QEMU ?= qemu-system-arm
.PHONY: run
ifdef MACHINE
run: firmware
	$(QEMU) $(MACHINE) -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel build/$(FIRMWARE)
else
run:
	@echo "no emulator has this board: flash build/$(FIRMWARE), write card.img to a card" && false
endif
