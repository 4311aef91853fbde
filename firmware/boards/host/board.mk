# The same C as a program for this machine: build/firmware card.img
CC ?= cc
SIZE := size
FIRMWARE := firmware
LINK_FLAGS := -lm
.PHONY: run
run: firmware
	build/firmware card.img
