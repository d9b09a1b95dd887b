# SPDX-License-Identifier: Apache-2.0
"""What ties a guest's trace.dat to its host's, put in by hand: the guest's clock, who is whose."""

import struct

DONE, DATE, OFFSET, TRACE_ID, TIME_SHIFT, GUEST, TSC2NSEC = 0, 1, 7, 11, 12, 13, 14


class File:
    """Options of a trace.dat, version 7: sections of them, each of which leads to the next."""

    def __init__(self, path):
        self.path = path
        self.data = bytearray(path.read_bytes())
        assert self.data.startswith(b"\x17\x08Dtracing7\0\0\x08"), path
        at = len(b"\x17\x08Dtracing7\0\0\x08") + 4
        for _ in range(2):  # how it is compressed
            at = self.data.index(0, at) + 1
        self.options = []
        (section,) = struct.unpack_from("<Q", self.data, at)
        while section:
            section = self._read(section)

    def _read(self, at):
        _, _, _, size = struct.unpack_from("<HHIQ", self.data, at)
        at += 16
        end = at + size
        while at < end:
            number, length = struct.unpack_from("<HI", self.data, at)
            at += 6
            if number == DONE:
                self.last = at
                return struct.unpack_from("<Q", self.data, at)[0]
            self.options.append((number, bytes(self.data[at:at + length])))
            at += length
        raise AssertionError("a section of options without an end")

    def all(self, number):
        return [data for found, data in self.options if found == number]

    def offset_ns(self):
        """From readings of its clock to the time of the day."""
        def value(data):
            return int(data.split(b"\0")[0], 0)
        return sum(value(data) * 1000 for data in self.all(DATE)) + sum(map(value, self.all(OFFSET)))

    def trace_id(self):
        return struct.unpack("<Q", self.all(TRACE_ID)[-1])[0]

    def append(self, options):
        struct.pack_into("<Q", self.data, self.last, len(self.data))
        body = b"".join(struct.pack("<HI", number, len(data)) + data for number, data in options)
        body += struct.pack("<HIQ", DONE, 8, 0)
        self.data += struct.pack("<HHIQ", 0, 0, 0, len(body)) + body
        self.path.write_bytes(self.data)


def tie(host_path, guest_path, name, tsc_offsets, threads):
    """With KVM's offset of each vCPU's TSC (guest = host + offset), and the threads that they are."""
    host, guest = File(host_path), File(guest_path)
    shift = struct.pack("<QII", host.trace_id(), 0, len(tsc_offsets))
    for offset in tsc_offsets:
        shift += struct.pack("<Iqqq", 1, 0, -offset, 1)
    shift += struct.pack("<q", 0) * len(tsc_offsets)
    difference = host.offset_ns() - guest.offset_ns()
    guest.append([(TIME_SHIFT, shift), (TSC2NSEC, host.all(TSC2NSEC)[-1]),
                  (OFFSET, str(difference).encode() + b"\0")])
    threads = b"".join(struct.pack("<Ii", vcpu, tid) for vcpu, tid in enumerate(threads))
    host.append([(GUEST, name.encode() + b"\0" + struct.pack("<QI", guest.trace_id(),
                                                            len(tsc_offsets)) + threads)])
