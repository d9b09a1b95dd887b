#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/fuzz-seeds.sh NAME OUTDIR: puts inputs to start from into OUTDIR, for the fuzz target
# tests/NAME_fuzzer.cc. None at all is fine. Small files make a fast fuzzer: the largest seed also
# sets the length that libFuzzer tries.
#
# Real traces are looked for in $STRATA_CORPUS, or else in ../shared/corpus; without them the
# samples have to do.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1
out=$2
corpus=${STRATA_CORPUS:-../shared/corpus}

# copy_small DIRECTORY PATTERN BYTES: the files of at most so many bytes.
copy_small() {
  if [ -d "$1" ]; then
    find "$1" -type f -name "$2" -size "-$(($3 + 1))c" -exec cp -t "$out" {} +
  fi
}

# copy_metadata 1|2: the small metadata files of CTF 1.8 or 2, which are all named alike.
copy_metadata() {
  local number=0 version file
  [ -d "$corpus/ctf" ] || return 0
  find "$corpus/ctf" -type f -name metadata -size -5000c | sort | while IFS= read -r file; do
    version=1
    [ "$(head -c 1 "$file" | tr '\0' ' ')" != $'\x1e' ] || version=2
    [ "$version" = "$1" ] || continue
    number=$((number + 1))
    cp "$file" "$out/metadata-$number"
  done
}

case $name in
  format/ctf/tsdl)
    copy_metadata 1
    ;;
  format/ctf/ctf2)
    copy_metadata 2
    ;;
  format/tracedat/file)
    tests/fuzz-seeds.py "$name" "$out"
    copy_small samples '*.dat' 50000
    copy_small "$corpus/dat" '*.dat' 50000
    ;;
  ftrace/ring_page | ftrace/format_file | elf/elf_file | kernel/perf_records | kernel/ring_snapshot | \
    collect/ring_reader | collect/process_drain)
    tests/fuzz-seeds.py "$name" "$out"
    ;;
  top/key_reader)
    printf '\2\033OP\033[15~\033[<0;10;5M\033[<65;3;2m\033[1;5C\033[[Aq\303\244\033x\177\r' > "$out/1"
    printf '\0\342\202\254\360\237\230\200\033\033[99999~\302\233' > "$out/2"
    ;;
  top/line_filter)
    printf 'mysql' > "$out/1"
    printf 'proc = mysqld and io > 10M or not (cpu < 80%% and state ~ "exit*")' > "$out/2"
    printf 'load > 49 && lost_events != 0 || busy >= 1.5k' > "$out/3"
    ;;
  period/json)
    printf '{"begin_ns":0,"end_ns":100,"source":"trace","clock":"epoch","machines":[{"name":"a","events":3,"estimated":{"task":["wait_other_ns"]},"cpus":[{"cpu":0,"tid":7,"user_ns":60,"idle_ns":40}],"tasks":[{"pid":7,"tid":7,"start_ns":-5,"name":"x","state_before":"wait-other","state":"user","user_ns":60,"wait_other_ns":40}]}]}\n' > "$out/1"
    printf '{"begin_ns":100,"end_ns":200,"source":"live","machines":[{"name":"a","tasks":[{"tid":7,"start_ns":-5,"state_before":"user","memory_bytes":null,"corrections":[{"begin_ns":50,"end_ns":100,"from":"user_ns","to":"unknown_ns","weight":2}]}],"latencies":[{"what":"syscall","name":"read","count":1,"sum_ns":3,"histogram":[0,0,1]}],"files":[{"identity":"inode","device":1,"number":2}]}]}\n' > "$out/2"
    cat "$out/1" "$out/2" > "$out/3"
    ;;
  guest/message)
    # From the guest, proved; from the host, not: each with its preamble.
    { printf '\372strata-guest 1\r\n'; printf '\11\0\0\0\17\0\0\0\7\0\0\0\1\2\3\4\5\6\7\10\1'
      printf '\46\0\0\0\13\0\0\0\1\0\0\0'; head -c 24 /dev/zero
      printf '\1\0\0\0\2\0\0\0\7\0\0\0\0\0'
      printf '\25\0\0\0\11\0\0\0\1\0\0\0\2\0\0\0\4\4\0shop\10\0metadata'; } > "$out/guest"
    { printf '\371strata-guest 1\r\n\105\0\0\0\1\0\0\0\0\0\0\0\1\0\1\0\1'; head -c 64 /dev/zero
      printf '\40\0\0\0\2\0\0\0\0\0\0\0'; head -c 32 /dev/zero; } > "$out/hello"
    ;;
  guest/guest_files)
    # A file and a piece of it, the guest's recording.json, and again as the head of a trace.
    { printf 'strata-guest 1\r\n\21\0\0\0\11\0\0\0\1\0\0\0\1\0\0\0\1\0\0\10\0metadata'
      printf '\17\0\0\0\12\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0abc'
      printf '\23\0\0\0\11\0\0\0\1\0\0\0\3\0\0\0\4\2\0a/\10\0metadata'
      printf '\27\0\0\0\11\0\0\0\1\0\0\0\2\0\0\0\5\0\0\16\0recording.json'
      printf '\31\0\0\0\12\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0{"version":1}'; } > "$out/files"
    ;;
  guest/handshake)
    { printf '\0strata-guest 1\r\n\105\0\0\0\1\0\0\0\0\0\0\0\1\0\1\0\1'; head -c 64 /dev/zero
      printf '\40\0\0\0\2\0\0\0\0\0\0\0'; head -c 32 /dev/zero; } > "$out/from_host"
    printf '\1strata-guest 1\r\n\6\0\0\0\5\0\0\0\0\0\0\0\2\0\2\0no' > "$out/refused"
    ;;
  guest/request)
    printf '{"events":[{"events":"sched:*","filters":["prev_pid == 1"]}],"processes":[1],"state":false,"sync_ms":250,"apps":["/bin/x"],"clock":"mono","buffer_bytes":4096}' > "$out/1"
    ;;
  guest/address)
    printf 'tcp://[fe80::1%%eth0]:99' > "$out/1"
    printf 'vsock://3:1024' > "$out/2"
    printf 'virtio:///run/strata.ctl' > "$out/3"
    ;;
  recording/description)
    printf '{"version": 1, "machines": [{"name": "a"}], "parts": [{"file": "host.dat", "kind": "tracedat"}]}' > "$out/1"
    printf '{"version": 1, "maps": [{"pieces": [{"t0": 1, "u0": -2, "mult": 3, "shift": 4}]}], "sessions": [{"asked": ["x"], "changes": [{"at_ns": 1}]}]}' > "$out/2"
    ;;
  state/index)
    printf 'cpu/0=\1\1\2\2\ncpu/0/task=\1\1\ntask/0 0 5=\0\0\ntask/1 12 7=\12\6\2\1\nname/read\n' > "$out/1"
    printf 'vcpu/0 12 3 14=\5\6\1\1\nvm/12 web\ntask/0 9 1=\2\1\ntask/0/name=\0\1\ntask/0/process=\0\11\ntask/0/cpu=\1\1\nname/a\n' > "$out/2"
    ;;
  record/session_change)
    printf '{"do": "change", "enable": [{"events": "sched:*", "filters": ["prev_pid == 1"]}], "disable": ["irq"]}' > "$out/1"
    printf '{"enable": [{"events": "a"}], "processes": [1, 17]}' > "$out/2"
    printf '{"processes": []}' > "$out/3"
    ;;
  collect/core_rings)
    # One ring of each policy, all of which are wanted: the first two lines of its header.
    { printf 'SPRBTAR1\3\0\0\0\0\0\0\0\0\220\10\0\0\0\0\0\0\3\7\0\0\1\0\0\0\2\0\0\0\3\0\0'
      printf '\0\20\7\0\0\0\0\0\17\16\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
      printf '\10\10\10\7'; head -c 188 /dev/zero; } > "$out/memory"
    ;;
  collect/session_link)
    printf 'SPRBSES1\3\0\0\0\21\47\0\0\1\0\0\0\4\0\0\0shop/usr/bin/shop' > "$out/given"
    printf 'SPRBSES1\3\0\0\0\0\0\0\0\377\377\377\377\0\0\0\0' > "$out/last"
    ;;
  collect/predicate)
    printf '\x00\x18%b%b%b' '\x00\x01\x00\x00\x00\x00\x00\x00' '\x02\x04\xff\xfe\x00\x00\x00\x00' \
      '\x00\x10\x00\x00\x00\x00\x00\x00\x01\x20\x00\x00' > "$out/predicate"
    printf '\x01%s\x00%s' 'a*[!x-z]?\*' 'abcd*' > "$out/glob"
    printf '\x02%s\x00%b' 'size > 5 and (customer ~ "a*" or note == late) and big & CPUS{1-3}' \
      '\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00ab\x00\x00\x00\x00\x00\x01\x00\x05\x00late\x00\x02\x00\x00\x00\x00\x00\x00\x00' \
      > "$out/filter"
    ;;
  collect/process_files)
    cp /proc/self/maps /proc/self/status "$out"
    printf '7f1000-7f3000 r-xp 00002000 00:2a 99  /a b/x (deleted)\n' > "$out/deleted"
    ;;
  kernel/profiles)
    # The examples of the documentation, one a file.
    awk -v out="$out" '/^```ini/ { number++; inside = 1; next } /^```/ { inside = 0 }
                       inside { print > (out "/example-" number) }' docs/profiles.md
    printf '[a]\nevents = x:1|y:* !x:[a-z]? z\n[b]\ninclude = a irq\r\n' > "$out/small"
    ;;
  kernel/usdt_arguments)
    printf '%s\0%s' '-4@%eax 8@-24(%rbp) 1@%ah' 'arg1 a=arg2:s32 path=+0(+0x10(%si)):string' > "$out/1"
    printf '%s\0%s' '4@$-5 8@name+8(%rip) 8f@%xmm0 8@(%r8,%rax,8)' 'retval:s32 b=%al:b1@2/8' > "$out/2"
    printf '%s\0%s' '2@(%rsp)' 'c=\5 $stack2 comm x=@+64:u8[4] @0x12 $arg1' > "$out/3"
    ;;
  ftrace/print_format)
    # One print format a line; a record of numbers that count up follows each.
    record=$(printf '\\x%02x' $(seq 0 95))
    number=0
    grep -v '^#' tests/ftrace/print_format_seeds.txt | while IFS= read -r format; do
      number=$((number + 1))
      printf '\x00%s\x00%b' "$format" "$record" > "$out/format-$number"
    done
    ;;
  kernel/proc_text)
    # A byte that says which text, and the text of this machine.
    number=0
    for file in /proc/self/stat /proc/self/status /proc/self/cgroup "" "" /proc/net/tcp \
      /proc/net/unix /proc/interrupts /proc/cpuinfo /proc/self/cmdline; do
      if [ -r "$file" ]; then
        { printf '%b' "\\x0$number"; head -c 2000 "$file"; } > "$out/text-$number"
      fi
      number=$((number + 1))
    done
    printf '\x03/kubepods/pod7/%064d' 1 > "$out/container"
    printf '\x09qemu\0-name\0guest=a,,b,x=y\0-uuid\0c7\0' > "$out/qemu"
    ;;
  kernel/cgroup_throttling)
    printf '\x00%s\n' '30 23 0:26 / /cgroup\0402 rw shared:4 - cgroup2 none rw' > "$out/unified"
    printf '\x00%s\n' '33 31 0:29 /a /cpu rw - cgroup cgroup rw,cpu,cpuacct' > "$out/version-1"
    printf '\x0150000 100000\n' > "$out/limit"
    printf '\x02nr_periods 17\nnr_throttled 12\nthrottled_usec 1034\n' > "$out/stat"
    printf '\x02nr_periods 17\nnr_throttled 12\nthrottled_time 1034\n' > "$out/stat-1"
    ;;
esac
