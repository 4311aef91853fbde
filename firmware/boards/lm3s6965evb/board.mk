# Cortex-M4F with 64 KiB and an SD card in QEMU; `make CORE=m0`: code for a Cortex-M0, 32 KiB.
CORE ?= m4
ifeq ($(CORE),m0)
CPU := -mcpu=cortex-m0
FLOAT := -mfloat-abi=soft
PROCESSOR := cortex-m3
WINDOW_BYTES := 32768
else
CPU := -mcpu=cortex-m4
FLOAT := -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mno-unaligned-access
PROCESSOR := cortex-m4
endif
OVERLAP ?= on
MACHINE := -M lm3s6965evb -cpu $(PROCESSOR) -drive if=sd,format=raw,file=card.img
include board/cortex-m.mk
