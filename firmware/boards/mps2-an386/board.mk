# Cortex-M4F in QEMU, its RAM cut to a window by the MPU: make run
CC := arm-none-eabi-gcc
SIZE := arm-none-eabi-size
FIRMWARE := firmware.elf
STACK_BYTES ?= 4096
BOARD_FLAGS := -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -fno-math-errno \
               -fno-tree-loop-distribute-patterns -mno-unaligned-access -Iboard
LINK_FLAGS := -nostdlib -nostartfiles -T board/link.ld -lgcc \
              -Wl,--defsym=poet_window_bytes=$(WINDOW_BYTES) -Wl,--defsym=poet_stack_bytes=$(STACK_BYTES)
BOARD_LINKS := board/link.ld
QEMU ?= qemu-system-arm
.PHONY: run
run: build/$(FIRMWARE)
	$(QEMU) -M mps2-an386 -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel $<
