#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata query as a user meets it: what it finds is what dump and info tell; output, errors."""

import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from program import CORPUS, PROGRAM, SAMPLE, lines, run


def rows(sql, *paths):
    """The rows as dictionaries, of a query that must go well."""
    done = run("query", "--json", *(paths or [SAMPLE]), sql)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b"", done.stderr
    return json.loads(done.stdout)


def dumped(*arguments):
    return [json.loads(line) for line in lines("dump", "--json", *arguments)]


class Answers(unittest.TestCase):
    def test_events_are_those_of_dump(self):
        events = dumped(SAMPLE)
        found = rows("SELECT time, cpu, tid, system, name, machine FROM event")
        self.assertEqual(len(found), len(events))
        for row, event in zip(found, events):
            self.assertEqual(
                (row["time"], row["cpu"], row["tid"], row["system"], row["name"], row["machine"]),
                (event["ts_ns"], event["cpu"], event["tid"], event["system"], event["event"],
                 event["machine"]))

    def test_every_field_of_every_event_is_in_its_column(self):
        events = dumped(SAMPLE)
        for name in sorted({event["event"] for event in events}):
            own = [event["fields"] for event in events if event["event"] == name]
            if not own[0]:
                continue
            # Those that are called like other columns are in columns called otherwise.
            taken = {"time", "cpu", "tid", "comm", "system", "name", "text", "machine", "trace",
                     "fields", "buffer", "lost", "lost_unknown", "stream", "nth"}
            columns = ", ".join('"%s%s" AS "%s"' % ("field_" if field in taken else "", field, field)
                                for field in own[0])
            found = rows("SELECT %s FROM event WHERE name = '%s'" % (columns, name))
            self.assertEqual(len(found), len(own), name)
            for row, fields in zip(found, own):
                for field, value in fields.items():
                    if isinstance(value, list):
                        value, row[field] = list(value), json.loads(row[field])
                    elif isinstance(value, str) and value.startswith("0x"):  # an address
                        value = int(value, 16)
                        row[field] %= 1 << 64
                    elif isinstance(value, int):
                        value, row[field] = value % (1 << 64), row[field] % (1 << 64)
                    self.assertEqual(row[field], value, (name, field))

    def test_conditions_find_what_dump_finds(self):
        events = dumped(SAMPLE)
        begin, end = events[len(events) // 3]["ts_ns"], events[len(events) // 2]["ts_ns"]
        tid = events[len(events) // 2]["tid"]
        count = rows("SELECT count(*) AS n FROM event WHERE time BETWEEN %d AND %d AND tid = %d"
                     % (begin, end, tid))[0]["n"]
        shown = lines("dump", SAMPLE, "--begin", begin, "--end", end, "--tid", tid)
        self.assertEqual(count, len(shown))
        for cpu in sorted({event["cpu"] for event in events}):
            count = rows("SELECT count(*) AS n FROM event WHERE cpu = %d" % cpu)[0]["n"]
            self.assertEqual(count, len(lines("dump", SAMPLE, "--cpu", cpu)))
        count = rows("SELECT count(*) AS n FROM event WHERE name = 'sched_switch' "
                     "AND time >= at('+100ms')")[0]["n"]
        self.assertEqual(count, len(lines("dump", SAMPLE, "-e", "sched_switch", "--begin", "+100ms")))

    def test_text_is_what_dump_shows(self):
        texts = [row["text"] for row in rows("SELECT text FROM event LIMIT 50")]
        for text, line in zip(texts, lines("dump", SAMPLE, "--limit", "50")):
            self.assertTrue(line.endswith(text), (line, text))

    def test_all_events_of_every_trace_of_the_corpus(self):
        traces = sorted((CORPUS / "dat").glob("*.dat"))
        traces += [CORPUS / "ctf" / name for name in (
            "lttng-ref-traces/basic-kernel-analysis", "tracecompass/context-switches",
            "tracecompass/cyg-profile", "lttng-analyses-synth/cputop")]
        traces = [trace for trace in traces if trace.exists()]
        if not traces:
            self.skipTest("no corpus")
        for trace in traces:
            with self.subTest(trace=trace.name):
                info = json.loads(run("info", "--json", trace).stdout)
                found = rows("SELECT name, system, count(*) AS n, sum(lost) AS lost FROM event "
                             "GROUP BY system, name", trace)
                self.assertEqual({(row["system"], row["name"]): row["n"] for row in found},
                                 {(kind["system"], kind["name"]): kind["count"]
                                  for kind in info["event_types"] if kind["count"]})

    def test_several_traces_are_one_table(self):
        found = rows("SELECT trace, count(*) AS n FROM event GROUP BY trace", SAMPLE, SAMPLE)
        self.assertEqual(len(found), 1)  # of one path
        self.assertEqual(found[0]["n"], 2 * len(lines("dump", SAMPLE)))
        self.assertEqual(len(rows("SELECT * FROM trace", SAMPLE, SAMPLE)), 2)

    def test_event_types_are_those_of_events(self):
        kinds = json.loads(run("events", SAMPLE, "--json").stdout)["traces"][0]["event_types"]
        kinds.sort(key=lambda kind: (kind["system"], kind["name"]))
        found = rows("SELECT system, name, fields FROM event_type ORDER BY system, name")
        self.assertEqual([(row["system"], row["name"]) for row in found],
                         [(kind["system"], kind["name"]) for kind in kinds])
        self.assertEqual([list(json.loads(row["fields"])) for row in found],
                         [[field["name"] for field in kind["fields"] if not field["common"]]
                          for kind in kinds])


class States(unittest.TestCase):
    """What the state engine's tables tell is what the commands that stand on it tell."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = folder.name
        self.addCleanup(lambda: os.environ.pop("XDG_CACHE_HOME") if before is None
                        else os.environ.update(XDG_CACHE_HOME=before))

    def test_the_state_at_a_moment(self):
        events = dumped(SAMPLE)
        for event in events[50::200]:
            at = event["ts_ns"]
            machine = json.loads(run("state", "--json", "--all", "--at", at, SAMPLE).stdout)
            machine = machine["machines"][0]
            during = "begin <= %d AND end > %d" % (at, at)
            cpus = rows("SELECT cpu, mode, submode FROM cpu_state WHERE %s ORDER BY cpu" % during)
            self.assertEqual([(row["cpu"], row["mode"], row["submode"] or "") for row in cpus],
                             [(cpu["cpu"], cpu["mode"], cpu["submode"]) for cpu in machine["cpus"]])
            # Who made a thread wait is called in SQL as then, and by the other command as now.
            found = rows("SELECT tid, state, iif(state = 'wait-cpu', '', detail) AS detail "
                         "FROM state WHERE %s" % during)
            self.assertEqual(sorted((row["tid"], row["state"], row["detail"] or "") for row in found),
                             sorted((task["tid"], task["state"],
                                     "" if task["state"] == "wait-cpu" else task["detail"])
                                    for task in machine["tasks"]))

    def test_times_of_cpus_add_up_to_the_span(self):
        info = json.loads(run("info", "--json", SAMPLE).stdout)
        span = info["end_ns"] - info["begin_ns"]
        for row in rows("SELECT * FROM cpu"):
            self.assertEqual(sum(value for name, value in row.items() if name.endswith("_ns")), span)
        for row in rows("SELECT cpu, sum(duration) AS ns FROM cpu_state GROUP BY cpu"):
            self.assertEqual(row["ns"], span)

    def test_slices_are_between_switches(self):
        events = [event for event in dumped(SAMPLE, "-e", "sched_switch")]
        slices = {(row["cpu"], row["begin"]): row["tid"]
                  for row in rows("SELECT cpu, begin, tid FROM sched_slice")}
        for event in events[:-1]:
            key = (event["cpu"], event["ts_ns"])
            if key in slices:  # not where the next one is at the same time
                self.assertEqual(slices[key], event["fields"]["next_pid"], key)
        self.assertGreater(len(slices), len(events) // 2)

    def test_system_calls_have_entry_and_exit(self):
        entries = {(event["tid"], event["ts_ns"]): event["event"][len("sys_enter_"):]
                   for event in dumped(SAMPLE, "-e", "sys_enter_*")}
        exits = {(event["tid"], event["ts_ns"]) for event in dumped(SAMPLE, "-e", "sys_exit_*")}
        calls = rows("SELECT * FROM syscall")
        self.assertGreater(len(calls), len(entries) // 2)
        for call in calls:
            self.assertEqual(entries[call["tid"], call["begin"]], call["name"])
            self.assertIn((call["tid"], call["end"]), exits)
            self.assertEqual(call["running_ns"] + call["waiting_ns"] + call["blocked_ns"],
                             call["duration"])

    def test_a_narrow_question_gives_what_a_filter_would(self):
        for table in ("cpu_state", "sched_slice", "state", "syscall", "irq", "wakeup", "migration"):
            everything = rows("SELECT * FROM %s" % table)
            if not everything:
                continue
            begin = sorted(row["begin"] for row in everything)[len(everything) // 2]
            end = begin + 2000000
            found = rows("SELECT * FROM %s WHERE begin < %d AND end > %d" % (table, end, begin))
            wanted = [row for row in everything if row["begin"] < end and row["end"] > begin]
            self.assertEqual(found, wanted, table)
            found = rows("SELECT * FROM %s WHERE begin BETWEEN %d AND %d" % (table, begin, end))
            wanted = [row for row in everything if begin <= row["begin"] <= end]
            self.assertEqual(found, wanted, table)


class Output(unittest.TestCase):
    def test_csv(self):
        done = run("query", "--csv", SAMPLE, "SELECT name, text FROM event LIMIT 5")
        table = list(csv.reader(io.StringIO(done.stdout.decode())))
        self.assertEqual(table[0], ["name", "text"])
        self.assertEqual(len(table), 6)

    def test_a_table_in_a_pipe_is_plain(self):
        text = lines("query", SAMPLE, "SELECT 1 AS one, 'x' AS two")
        self.assertEqual(text, ["one  two", "  1  x"])

    def test_a_reader_that_has_seen_enough_ends_it(self):
        done = subprocess.run(
            ["sh", "-c", '"$0" query "$1" "SELECT * FROM event a, event b" | head -n 1',
             PROGRAM, str(SAMPLE)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=250)
        self.assertEqual(done.stdout.count(b"\n"), 1)
        self.assertEqual(done.stderr, b"")

    def test_schema_documents_every_column(self):
        text = "\n".join(lines("query", SAMPLE, ".schema"))
        for table in ("event", "event_type", "trace"):
            self.assertIn("CREATE TABLE %s(" % table, text)
        for line in text.splitlines():
            if line.startswith("  ") and not line.strip().startswith("PRIMARY KEY"):
                self.assertIn("  -- ", line)
        self.assertRegex(text, r"prev_comm TEXT HIDDEN, +-- char\[16\] of sched:sched_switch")
        only = "\n".join(lines("query", SAMPLE, ".schema trace"))
        self.assertNotIn("prev_comm", only)

    def test_the_schema_is_sql(self):
        import sqlite3
        text = "\n".join(lines("query", SAMPLE, ".schema"))
        sqlite3.connect(":memory:").executescript(text)

    def test_a_script_comes_from_standard_input(self):
        script = b".mode csv\nSELECT 1 AS a,\n 2 AS b;\n.tables\nSELECT 3 AS c"
        done = run("query", SAMPLE, input=script)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode().splitlines()
        self.assertEqual(text[:2], ["a,b", "1,2"])
        self.assertEqual(text[-2:], ["c", "3"])
        self.assertTrue(any(line.startswith("event_type ") for line in text))


class Errors(unittest.TestCase):
    def test_wrong_sql_is_2_with_the_place(self):
        done = run("query", SAMPLE, "SELECT time\nFROM evnt WHERE x")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no such table: evnt", done.stderr)
        done = run("query", SAMPLE, "SELECT time,\n  tme FROM event")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"SQL: in line 2, column 3: no such column: tme", done.stderr)
        self.assertIn(b"\n    tme FROM event\n    ^", done.stderr)
        self.assertIn(b"'time'", done.stderr)
        self.assertEqual(done.stdout, b"")

    def test_only_columns_of_the_tables_asked_are_proposed(self):
        done = run("query", SAMPLE, "SELECT time FROM Thread")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no such column: time", done.stderr)
        self.assertNotIn(b"'time'", done.stderr)

    def test_writing_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x"
            for sql in ("ATTACH '%s' AS x" % file, "CREATE TABLE x(a)", "VACUUM INTO '%s'" % file):
                self.assertEqual(run("query", SAMPLE, sql).returncode, 2, sql)
            self.assertFalse(file.exists())

    def test_a_script_ends_with_what_fails(self):
        done = run("query", SAMPLE, input=b"SELECT 1;\nSELECT x;\nSELECT 3;\n")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn(b"3", done.stdout)

    def test_a_missing_trace_is_1(self):
        done = run("query", "no/such.dat", "SELECT 1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, b"strata: no/such.dat: cannot open: No such file or directory\n")

    def test_without_a_trace_it_is_wrong_usage(self):
        self.assertEqual(run("query", "SELECT 1").returncode, 2)

    def test_a_truncated_trace_gives_what_can_be_read_and_1(self):
        trace = CORPUS / "dat" / "trappy_trace.dat"
        if not trace.exists():
            self.skipTest("no corpus")
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder) / "cut.dat"
            cut.write_bytes(trace.read_bytes()[:-20000])
            done = run("query", "--json", cut, "SELECT count(*) AS n FROM event")
            self.assertEqual(done.returncode, 1)
            self.assertIn(str(cut).encode(), done.stderr)
            self.assertEqual(json.loads(done.stdout)[0]["n"], len(run("dump", cut).stdout.splitlines()))


if __name__ == "__main__":
    unittest.main()
