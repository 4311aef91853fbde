# What all Cortex-M boards share. Before it: CPU, FLOAT, MACHINE, and SPARE, the files that this board does not take.
CC := arm-none-eabi-gcc
SIZE := arm-none-eabi-size
FIRMWARE := firmware.elf
STACK_BYTES ?= 3072
BOARD_FLAGS := $(CPU) -mthumb $(FLOAT) -ffreestanding -fno-math-errno -fno-tree-loop-distribute-patterns -fno-schedule-insns -Iboard
LINK_FLAGS := -nostdlib -nostartfiles -T board/link.ld -lgcc -Wl,--no-warn-rwx-segments,-z,noexecstack \
              -Wl,--defsym=poet_window_bytes=$(WINDOW_BYTES) -Wl,--defsym=poet_stack_bytes=$(STACK_BYTES)
ifdef COUNT
BOARD_FLAGS += -DPOET_COUNT
MACHINE += -icount shift=0,sleep=off
endif
BOARD_LINKS := board/link.ld board/memory.ld
QEMU ?= qemu-system-arm
.PHONY: run
ifdef MACHINE
run: build/$(FIRMWARE)
	$(QEMU) $(MACHINE) -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel $<
else
run:
	@echo "no emulator has this board: flash build/$(FIRMWARE), write card.img to a card" && false
endif
