#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed is enough to build programs with probes: the examples, by find_package and by
pkg-config. They run where nobody traces, and need no C++ library."""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed import ROOT, install, run  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix = folder / "installed"
        install("probe", prefix, "src/probe/libstrata-probe.so", "src/probe/libstrata-probe.a")

        run("cmake", "-S", ROOT / "examples/probe", "-B", folder / "examples",
            f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", folder / "examples")
        run(folder / "examples/shop", "100")
        run("getent", "ahosts", "localhost",
            env={**os.environ, "LD_PRELOAD": str(folder / "examples/libwatch_names.so")})

        library = next(prefix.glob("lib*/**/libstrata-probe.so")).parent
        flags = run("pkg-config", "--cflags", "--libs", "strata-probe",
                    env={**os.environ, "PKG_CONFIG_PATH": str(library / "pkgconfig")}).split()
        run("gcc", "-std=c11", "-O2", "-Wall", "-Werror", ROOT / "examples/probe/shop.c", "-o",
            folder / "shop", *flags)
        run(folder / "shop", env={**os.environ, "LD_LIBRARY_PATH": str(library)})
        for needed in run("readelf", "-d", library / "libstrata-probe.so").splitlines():
            if "(NEEDED)" in needed and "libc.so" not in needed:
                sys.exit(f"libstrata-probe needs more than the C library: {needed}")
    print("the examples build and run")


main()
