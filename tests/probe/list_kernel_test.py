#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata probe list: what a program declares, as the program's author wrote it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = os.environ["STRATA_PROGRAM"]
LIBRARY = pathlib.Path(STRATA).parent / "src/probe/libstrata-probe.a"


def listed(program):
    result = subprocess.run([STRATA, "probe", "list", "--json", str(program)], capture_output=True,
                            text=True, check=True)
    return json.loads(result.stdout)["files"]


def expect(found, wanted):
    if found != wanted:
        sys.exit(f"found {found}\nwanted {wanted}")


def main():
    if not LIBRARY.exists() or not shutil.which("gcc"):
        print("libstrata-probe is not built, or there is no gcc")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        shop = pathlib.Path(folder) / "shop"
        source = (ROOT / "examples/probe/shop.c").read_text()
        waiting = pathlib.Path(folder) / "shop.c"
        waiting.write_text(source.replace("return 0;", "getchar(); return 0;"))
        subprocess.run(["gcc", "-O2", "-DSTRATA_PROBE_PATCHED", f"-I{ROOT / 'include'}",
                        str(waiting), str(LIBRARY), "-o", str(shop)], check=True)
        subprocess.run(["strip", str(shop)], check=True)
        files = listed(shop)
        expect([file["path"] for file in files], [str(shop)])
        probes = {probe["name"]: probe for probe in files[0]["probes"]}
        expect(sorted(probes), ["basket", "delivery", "order_placed", "stock"])
        expect(probes["order_placed"], {
            "provider": "shop", "name": "order_placed", "kind": "event", "level": 6, "patched": 1,
            "fields": [{"name": "order", "type": "u64"}, {"name": "customer", "type": "string"},
                       {"name": "total", "type": "f64"},
                       {"name": "mood", "type": "enum", "values": {"patient": 0, "hurried": 1}}]})
        expect((probes["delivery"]["kind"], probes["stock"]["kind"]), ("span", "counter"))
        expect(probes["basket"]["fields"][1], {"name": "articles", "type": "u32[]"})

        with subprocess.Popen([str(shop)], stdin=subprocess.PIPE) as process:
            running = [file for file in listed(process.pid) if file["path"] == str(shop)]
            process.communicate(b"\n")
        for probe in running[0]["probes"]:
            expect(probe.pop("on"), {"kernel": False, "environment": False, "collectors": 0})
        expect(running, files)
    expect(listed("/bin/sh")[0]["probes"], [])
    print("as declared")


main()
