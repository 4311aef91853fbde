# The deepest stack that a firmware can need, from its call graph.
#
#   objdump -t -d FIRMWARE | awk -f stack.awk -v kernels="..." -v reserved=BYTES -v frame=BYTES  *.ci -
#
# *.ci: what gcc -fcallgraph-info=su writes, every function with its frame and its callees. The compiler's own library comes without:
# its frames are read off the disassembly, every register pushed and every subtraction from sp counted, which is never too little.
# The engine calls kernels by the plan's table, so `kernels` stand for its one indirect call; poet_windows.c calls one of its tiles,
# named by their sizes (any_4x4), so all of them stand for that, and what else of that file nobody calls by name. Any other
# indirect call, recursion, and frames without a bound are errors.
#   of="NAME ..." prints these functions' depths instead of the check; indirect=BYTES then stands for the deepest kernel.

function fail(what) {
  print "stack: " what > "/dev/stderr"
  failed = 1
  exit 1
}

function thousands(n) { return n < 1000 ? n "" : thousands(int(n / 1000)) sprintf(",%03d", n % 1000) }
function up_to_8(n) { return int((n + 7) / 8) * 8 }
function last_word(path, parts) { return parts[split(path, parts, "/")] }

function add_edge(from, to) {
  if ((from, to) in edge) return
  edge[from, to] = 1
  callee[from, ++callees[from]] = to
}

# ---- .ci files

FNR == 1 { is_graph = FILENAME ~ /\.ci$/ }

is_graph && /^node:/ {
  split($0, quoted, "\"")
  title = quoted[2]
  if (quoted[4] !~ /bytes \(/) next
  bytes = quoted[4]
  sub(/ bytes \(.*/, "", bytes)
  sub(/.*\\n/, "", bytes)
  if (quoted[4] ~ /\(dynamic\)/) fail(title " has a frame without a bound")
  if (!(title in size) || bytes + 0 > size[title]) size[title] = bytes + 0
  if (title ~ /poet_windows\.c:.*_[0-9]x[0-9]$/) add_edge("__tiles", title)
  next
}
is_graph && /^edge:/ {
  split($0, quoted, "\"")
  if (quoted[4] == "__indirect_call" && quoted[2] ~ /poet_windows(\.c:|$)/) quoted[4] = "__tiles"
  if (quoted[4] == "__indirect_call" && quoted[2] !~ /poet_engine\.c:(call|one_step)$|^poet_train$/)
    fail(quoted[2] " calls what a table or a variable says, and not the engine's call of kernels")
  add_edge(quoted[2], quoted[4])
  called[quoted[4]] = 1
  next
}
is_graph { next }

# ---- symbols: names of one address are one function

/^[0-9a-f]+ .*[ \t]\.text[ \t]/ {
  if (!($1 in label)) label[$1] = ""
  address[$NF] = $1
  next
}

# ---- disassembly: frames of the compiler's library, the bytes that its functions push

/^[0-9a-f]+ <.*>:$/ {
  name = substr($2, 2, length($2) - 3)
  if (previous != "" && !ends) add_jump(previous, name)
  label[$1] = name
  previous = name
  pushed[name] = 0
  ends = 0
  next
}
/^ *[0-9a-f]+:\t/ {
  split($0, column, "\t")
  op = column[2]
  operands = column[3]
  if (op ~ /^[0-9a-f ]+$/) { # with the instruction's bytes
    op = column[3]
    operands = column[4]
  }
  sub(/ *;.*/, "", operands)
  if (op ~ /^(\.|nop|movs? *r8)/) next # data, padding
  ends = (op ~ /^b(\.[nw])?$/ || op ~ /^bx/ || op ~ /^udf/ || (op ~ /^(pop|ldmia)/ && operands ~ /pc/) || operands ~ /^pc,/)
  if (op ~ /^push/ || (op ~ /^stmdb/ && operands ~ /^sp!/)) pushed[name] += 4 * registers(operands)
  else if (op ~ /^vpush/) pushed[name] += (operands ~ /d/ ? 8 : 4) * registers(operands)
  else if (op ~ /^sub/ && operands ~ /^sp, /) {
    amount = operands
    if (amount !~ /#/) unbounded[name] = 1
    sub(/.*#/, "", amount)
    pushed[name] += amount
  } else if (op ~ /^strd?/ && operands ~ /\[sp, #-[0-9]+\]!/) {
    amount = operands
    sub(/.*#-/, "", amount)
    pushed[name] += amount + 0
  } else if (op ~ /^bl?(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?(\.[nw])?$/ || op ~ /^cbn?z/) {
    target = operands
    if (!sub(/.*</, "", target)) next
    sub(/>.*/, "", target)
    sub(/\+0x.*/, "", target)
    if (target == name) next
    if (op ~ /^bl(\.[nw])?$/) add_library_call(name, target)
    else add_jump(name, target)
  } else if (op ~ /^blx$/) unbounded[name] = 1
}

# A range r4-r7 counts as its registers.
function registers(list, items, n, i, ends_of, total) {
  gsub(/[{} !]/, "", list)
  sub(/^sp,/, "", list)
  n = split(list, items, ",")
  for (i = 1; i <= n; ++i) {
    if (items[i] ~ /-/) {
      split(items[i], ends_of, "-")
      gsub(/[^0-9]/, "", ends_of[1])
      gsub(/[^0-9]/, "", ends_of[2])
      total += ends_of[2] - ends_of[1] + 1
    } else
      ++total
  }
  return total
}
function add_library_call(from, to) { library_call[from, ++library_calls[from]] = to }
function add_jump(from, to) {
  add_library_call(from, to)
  jumps[from, to] = 1
}

# ---- depths

# The title under which a function that another file calls is known: as it is, or as objdump names its address.
function disassembled(title) {
  if (title in pushed) return title
  if (title in address && label[address[title]] in pushed) return label[address[title]]
  return ""
}

# chain[title]: the callee that goes deepest.
function depth(title, i, to, deepest, d, code) {
  if (title in known) return known[title]
  if (title == "__indirect_call" && indirect != "") return indirect + 0
  if (active[title]) fail(title " calls itself, by way of what it calls")
  active[title] = 1
  deepest = 0
  if (title == "__indirect_call") {
    for (i = 1; i <= kernel_count; ++i) {
      d = depth(kernel[i])
      if (d > deepest) {
        deepest = d
        chain[title] = kernel[i]
      }
    }
  } else if (title in size) {
    for (i = 1; i <= callees[title]; ++i) {
      to = callee[title, i]
      d = depth(to)
      if (d > deepest) {
        deepest = d
        chain[title] = to
      }
    }
    deepest += size[title]
  } else {
    code = disassembled(title)
    if (code == "") { # the linker has left it out: nothing that is called calls it
      active[title] = 0
      return known[title] = 0
    }
    if (code != title) {
      active[title] = 0
      return known[title] = depth(code)
    }
    if (unbounded[code]) fail(code " has a frame without a bound, or calls what a variable says")
    for (i = 1; i <= library_calls[code]; ++i) {
      to = library_call[code, i]
      if (active[to] && jumps[code, to]) continue # back to a function whose frame is counted
      d = depth(to)
      if (d > deepest) {
        deepest = d
        chain[title] = to
      }
    }
    deepest += pushed[code]
  }
  active[title] = 0
  return known[title] = deepest
}

END {
  if (failed) exit 1
  for (title in size)
    if (title ~ /poet_windows\.c:/ && !(title in called)) add_edge("__tiles", title)
  size["__tiles"] = 0
  if (!("poet_train" in size)) fail("no call graph")
  kernel_count = split(kernels, kernel, " ")
  if (of != "") {
    n = split(of, asked, " ")
    for (i = 1; i <= n; ++i) print asked[i], depth(asked[i])
    exit 0
  }
  below = up_to_8(depth("poet_reset"))
  need = below + frame + up_to_8(depth("poet_tick"))
  printf "stack %s of %s bytes\n", thousands(need), thousands(reserved)
  if (need <= reserved) exit 0
  printf "stack: %s bytes are too few. The deepest chain of calls, with frames:\n", thousands(reserved) > "/dev/stderr"
  for (title = "poet_reset"; title != ""; title = chain[title])
    printf "  %6d  %s\n", title in size ? size[title] : pushed[disassembled(title)], last_word(title) > "/dev/stderr"
  printf "  %6d  an interrupt, and what handles it\nMake it larger: make STACK_BYTES=%d\n", need - below, need > "/dev/stderr"
  exit 1
}
