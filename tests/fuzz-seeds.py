#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/fuzz-seeds.py NAME OUTDIR: small inputs for the fuzz target tests/NAME_fuzzer.cc, made up
from the formats' definitions (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5), the kernel's ring_buffer.h,
elf(5), linux/perf_event.h).
"""
import itertools
import struct
import sys
import zlib
from pathlib import Path

COMMON = """\
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""
FORMATS = {
    "print": (5, "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
                 "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n",
              '"%ps: %s", (void *)REC->ip, REC->buf'),
    "sched_switch": (6, "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                        "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                        "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n",
                     '"prev_comm=%s prev_pid=%d", REC->prev_comm, REC->prev_pid'),
    "text": (7, "\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n"
                "\tfield:__rel_loc u16[] more;\toffset:12;\tsize:4;\tsigned:0;\n"
                "\tfield:unsigned long args[sizeof(int)];\toffset:16;\tsize:32;\tsigned:0;\n",
             '"%s %s", __get_str(text), __print_array(__get_rel_dynamic_array(more), 3, 2)'),
    "sys_enter_read": (8, "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                          "\tfield:char * buf;\toffset:16;\tsize:8;\tsigned:0;\n",
                       '"buf: 0x%08lx", ((unsigned long)(REC->buf))'),
}


def format_text(name):
    number, fields, text = FORMATS[name]
    return f"name: {name}\nID: {number}\nformat:\n{COMMON}{fields}\nprint fmt: {text}\n".encode()


class Kernel:
    def __init__(self, big, long_size):
        self.order = ">" if big else "<"
        self.big = big
        self.long_size = long_size
        self.long = "Q" if long_size == 8 else "I"

    def pack(self, codes, *values):
        return struct.pack(self.order + codes, *values)

    def head(self, type_len, delta):
        return self.pack("I", type_len << 27 | delta if self.big else delta << 5 | type_len)

    def records(self):
        switch = self.pack("HBBi16siiq", 6, 0, 0, 17, b"some task", 17, 0, 1)
        text = self.pack("HBBiII32s", 7, 0, 0, 17, 6 << 16 | 48, 6 << 16 | 32, b"") + b"hello\0\0\0"
        return [
            self.head(len(switch) // 4, 5) + switch,
            self.head(30, 7) + self.pack("I", 3),
            self.head(0, 9) + self.pack("I", len(text) + 4) + text,
            self.head(29, 2) + self.pack("I", 8) + b"\0" * 4,
            self.head(31, 50000000) + self.pack("I", 1),
            self.head(len(switch) // 4, 5) + switch,
        ]

    def page(self, flags=0, size=4096):
        body = b"".join(self.records())
        head = self.pack("Q" + self.long, 1000, len(body) | flags)
        return (head + body + self.pack(self.long, 12)).ljust(size, b"\0")


def string(text):
    return text.encode() + b"\0"


def zstd_frame(plain):
    """One block that is not compressed: what any decoder takes."""
    return (struct.pack("<IBI", 0xFD2FB528, 0xA0, len(plain)) +
            (len(plain) << 3 | 1).to_bytes(3, "little") + plain)


def trace_dat(kernel, version, packing="none"):
    pack = kernel.pack
    header_page = (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                   f"\tfield: local_t commit;\toffset:8;\tsize:{kernel.long_size};\tsigned:1;\n")
    info = (string("header_page") + pack("Q", len(header_page)) + header_page.encode() +
            string("header_event") + pack("Q", 1) + b"\n")
    own = format_text("print")
    ftrace = pack("IQ", 1, len(own)) + own
    events = pack("I", 1) + string("sched") + pack("I", 2)
    for name in ("sched_switch", "text"):
        text = format_text(name)
        events += pack("Q", len(text)) + text
    kallsyms = b"ffffffff81000000 T _text\n"
    printk = b'0xffffffff82000000 : "hello"\n'
    cmdlines = b"17 some task\n"
    options = [
        (4, b"[local] global\0"), (5, b"Linux host 6.1\0"), (7, b"100\0"), (1, b"0x5d8\0"),
        (11, pack("Q", 77)), (14, pack("IIQ", 1 << 20, 20, 0)),
        (12, pack("QIII", 78, 1, 1, 2) + pack("QQqqqqqq", 0, 9000, 5, 7, 1, 1, 0, 0)),
    ]
    pages = [kernel.page(), kernel.page(1 << 31), kernel.page(3 << 30)]
    prefix = (b"\x17\x08\x44tracing" + string(str(version)) +
              bytes([kernel.big, kernel.long_size]) + pack("I", 4096))
    if version == 6:
        out = prefix + info + ftrace + events
        out += pack("I", len(kallsyms)) + kallsyms + pack("I", len(printk)) + printk
        out += pack("Q", len(cmdlines)) + cmdlines + pack("I", 2) + b"options  \0"
        for number, data in options:
            out += pack("HI", number, len(data)) + data
        out += pack("H", 0) + b"flyrecord\0"
        out += pack("QQQQ", 4096, 8192, 12288, 4096)
        return out.ljust(4096, b"\0") + b"".join(pages)

    squeeze = {"none": None, "zlib": zlib.compress, "zstd": zstd_frame}[packing]

    def packed(plain):
        data = squeeze(plain)
        return pack("II", len(data), len(plain)) + data

    out = prefix + string(packing) + string("" if packing == "none" else "1.2")
    patch_at = len(out)
    out += pack("Q", 0)
    for number, body in ((16, info), (17, ftrace), (18, events),
                         (19, pack("I", len(kallsyms)) + kallsyms),
                         (20, pack("I", len(printk)) + printk),
                         (21, pack("Q", len(cmdlines)) + cmdlines)):
        options.append((number, pack("Q", len(out))))
        if squeeze:
            body = packed(body)
        out += pack("HHIQ", number, int(squeeze is not None), 0xFFFFFFFF, len(body)) + body
    section = len(out)
    out += pack("HHIQ", 3, int(squeeze is not None), 0xFFFFFFFF, 0)
    cpus = []
    for cpu, own_pages in ((0, pages[:2]), (1, pages[2:])):
        if squeeze:
            data = pack("I", len(own_pages)) + b"".join(packed(page) for page in own_pages)
        else:
            out = out.ljust((len(out) + 4095) // 4096 * 4096, b"\0")
            data = b"".join(own_pages)
        cpus.append(pack("IQQ", cpu, len(out), len(data)))
        out += data
    options.append((3, pack("Q", section) + string("") + string("local") +
                    pack("II", 4096, len(cpus)) + b"".join(cpus)))
    body = b"".join(pack("HI", number, len(data)) + data for number, data in options)
    body += pack("HIQ", 0, 8, 0)
    first = len(out)
    out += pack("HHIQ", 0, 0, 0xFFFFFFFF, len(body)) + body
    return out[:patch_at] + pack("Q", first) + out[patch_at + 8:]


def elf_file(kernel):
    """One segment; symbols, a build-id, a USDT note."""
    pack, word, wide = kernel.pack, kernel.long, kernel.long_size == 8

    def symbol(name, info, section, address, size):
        if wide:
            return pack("IBBHQQ", name, info, 0, section, address, size)
        return pack("IIIBBH", name, address, size, info, 0, section)

    def note(owner, kind, content):
        def padded(data):
            return data.ljust((len(data) + 3) // 4 * 4, b"\0")
        owner = string(owner)
        return pack("III", len(owner), len(content), kind) + padded(owner) + padded(content)

    usdt = pack(3 * word, 0x1060, 0x1100, 0x1080) + string("shop") + string("sold") + string("4@%eax")
    sections = [  # name, type, address, content, link, size of an entry
        ("", 0, 0, b"", 0, 0),
        (".strtab", 3, 0, b"\0main\0helper\0", 0, 0),
        (".symtab", 2, 0, symbol(0, 0, 0, 0, 0) + symbol(1, 0x12, 1, 0x1050, 16) +
         symbol(6, 0x02, 1, 0x1060, 8), 1, 24 if wide else 16),
        (".note.gnu.build-id", 7, 0, note("GNU", 3, b"\x12\x34"), 0, 0),
        (".note.stapsdt", 7, 0, note("stapsdt", 3, usdt), 0, 0),
        (".stapsdt.base", 1, 0x1100, b"x", 0, 0),
    ]
    texts = b"".join(string(section[0]) for section in sections) + string(".shstrtab")
    sections.append((".shstrtab", 3, 0, texts, 0, 0))
    head, segment = (64, 56) if wide else (52, 32)
    at = head + segment
    contents, table, name = b"", b"", 0
    for label, kind, address, content, link, entry in sections:
        table += (pack("II" + 4 * word, name, kind, 0, address, at, len(content)) +
                  pack("II" + 2 * word, link, 0, 4, entry))
        contents, at, name = contents + content, at + len(content), name + len(label) + 1
    out = b"\x7fELF" + bytes([1 + wide, 1 + kernel.big, 1]) + bytes(9)
    out += pack("HHI" + 3 * word, 3, 62, 1, 0, head, at)
    out += pack("IHHHHHH", 0, head, segment, 1, 64 if wide else 40, len(sections), len(sections) - 1)
    place = (0, 0x1000, 0x1000, 0x200, 0x400)
    if wide:
        out += pack("II6Q", 1, 5, *place, 4096)
    else:
        out += pack("8I", 1, *place, 5, 4096)
    return out + contents + table


def perf_record(kind, body):
    return struct.pack("=IHH", kind, 1, 8 + len(body)) + body


def perf_sample(values, raw):
    return perf_record(9, struct.pack(f"=QQ{len(values)}QI", 1000, len(values), *values, len(raw)) + raw)


def probe_site(fields):
    """A site of a program, with its flag at the address 0, as all of them are here."""
    strings = b"".join(text + b"\0" for text in (b"app", b"event", *fields))
    strings += bytes(-len(strings) % 4)
    return struct.pack("=IiiBBBB", 16 + len(strings), -4, 0, 1, 0, 6, len(fields)) + strings


def probe_memory():
    """What a program wrote of its rings; see src/probe/abi.h and tests/collect/fuzzed_memory.h."""
    sites = probe_site([b"u32 a", b"string b", b"seq_u16 c", b"enum d x=0,y=-1"])
    entry = struct.pack("=IIIIQQ", (32 + len(sites) + 7) // 8 * 8, 16, len(sites), 1, 0, 0) + sites
    entry += bytes(-len(entry) % 8)

    def record(identity, payload, bits=0):
        size = (12 + len(payload) + 7) // 8 * 8
        return (struct.pack("=QI", 5, identity << 12 | bits | size // 8) + payload).ljust(size, b"\0")

    fields = struct.pack("=I3sHHHi", 7, b"ab\0", 2, 8, 9, 1)
    records = record(1, struct.pack("=IQQ", 0, 0, 0)) + record(16, fields)
    records += record(2, struct.pack("=IQ", 0, 3)) + record(16, fields)
    records += record(16, struct.pack("=Ii16sI", 7, 17, b"thread", 1) + fields, 0x800)
    header = struct.pack("=IIiIQ", len(entry), 1, -1, 0, 2).ljust(64, b"\0")
    dictionary = entry.ljust(512, b"\0")
    control = struct.pack("=QQQ", len(records), 0, 4).ljust(128, b"\0")
    return header + dictionary + control + records


def seeds(name):
    kernels = [Kernel(big, size) for big, size in itertools.product((False, True), (8, 4))]
    if name == "format/tracedat/file":
        for kernel in kernels:
            yield trace_dat(kernel, 6)
            for packing in ("none", "zlib", "zstd"):
                yield trace_dat(kernel, 7, packing)
    elif name == "ftrace/ring_page":
        for kernel in kernels:
            kind = bytes([int(kernel.big) | (2 if kernel.long_size == 4 else 0)])
            for flags in (0, 1 << 31, 3 << 30):
                yield kind + kernel.page(flags, 400)
    elif name == "kernel/ring_snapshot":
        pages = b"".join(kernels[0].page(flags, 416) for flags in (0, 1 << 31))
        for until in (1000, 1010, 1 << 63):
            yield struct.pack("<BQ", 12, until) + pages
    elif name == "elf/elf_file":
        for kernel in kernels:
            yield elf_file(kernel)
    elif name == "ftrace/format_file":
        for event in FORMATS:
            yield format_text(event)
    elif name in ("collect/ring_reader", "collect/process_drain"):
        for policy in range(3):
            yield bytes([policy]) + probe_memory()
    elif name == "kernel/perf_records":
        raw = struct.pack("=HBBi16siiq16siiI", 6, 0, 0, 17, b"some task", 17, 120, 1, b"other", 18,
                          120, 0)
        lost = perf_record(2, struct.pack("=QQ", 77, 5))
        for values in ((), (1, 500), (1, 2, 3, 4)):
            records = perf_sample(values, raw) + lost + perf_record(5, bytes(24)) + perf_sample(values, raw)
            for split in (0, 3, 14, 255):
                yield bytes([len(values), split]) + records


def main():
    name, out = sys.argv[1], Path(sys.argv[2])
    for number, seed in enumerate(seeds(name)):
        (out / f"made-{number}").write_bytes(seed)


main()
