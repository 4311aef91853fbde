# Cortex-M4F in QEMU, its RAM cut to a window by the MPU; the storage is the file card.img.
CPU := -mcpu=cortex-m4
FLOAT := -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mno-unaligned-access
MACHINE := -M mps2-an386
include board/cortex-m.mk
