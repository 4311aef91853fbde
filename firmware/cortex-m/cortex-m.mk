# What all Cortex-M boards share. Before it: CPU, FLOAT, MACHINE, and SPARE, the files that this board does not take.
CC := arm-none-eabi-gcc
SIZE := arm-none-eabi-size
OBJDUMP := arm-none-eabi-objdump
FIRMWARE := firmware.elf
PROCESSOR_NAME := $(patsubst -mcpu=%,%,$(CPU))
STACK_BYTES ?= $(STACK_BYTES.$(PROCESSOR_NAME))
BOARD_FLAGS := $(CPU) -mthumb $(FLOAT) -ffreestanding -fno-math-errno -fno-tree-loop-distribute-patterns -Iboard \
               -fcallgraph-info=su
ifdef COUNT
BOARD_FLAGS += -DPOET_COUNT
MACHINE += -icount shift=0,sleep=off
endif
STATED_BYTES := $(STATIC_BYTES.$(PROCESSOR_NAME))+$(STACK_BYTES)$(if $(COUNT),+8)
LINK_FLAGS := -nostdlib -nostartfiles -T board/link.ld -lgcc -Wl,--no-warn-rwx-segments,-z,noexecstack,-Map=build/firmware.map \
              -Wl,--defsym=poet_window_bytes=$(WINDOW_BYTES) -Wl,--defsym=poet_stack_bytes=$(STACK_BYTES) \
              -Wl,--defsym=poet_stated_bytes=$(STATED_BYTES)
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
