#!/usr/bin/env python3
"""pages.py RESULTS TOOLS: draws what the program RESULTS writes, and results made by hand, with the scripts of the
folder TOOLS."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

RESULTS, TOOLS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SVG = "{http://www.w3.org/2000/svg}"


def trial(array, policy, milliseconds, spread=0.0, rejected="", chosen=False):
    return {"array": array, "policy": policy, "milliseconds": [milliseconds] if milliseconds else [],
            "median": milliseconds, "spread": spread, "rejected": rejected, "chosen": chosen}


def result(*trials, best=None, automatic=1234.5, after=0.125):
    return {"program": "p", "version": "", "automatic_milliseconds": automatic, "best_milliseconds": after,
            "best": best or {}, "trials": list(trials)}


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_results(self):
        subprocess.run([RESULTS], cwd=self.folder, check=True)

    def draw(self, script, *arguments):
        return subprocess.run([sys.executable, TOOLS / script, *arguments], cwd=self.folder, capture_output=True,
                              text=True, check=False)

    def drawn(self, script, *arguments):
        done = self.draw(script, *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def svg(self, data):
        (self.folder / "by_hand.json").write_text(json.dumps(data), encoding="utf-8")
        self.drawn("tuning_picture.py", "by_hand.json")
        text = (self.folder / "by_hand.svg").read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        return text

    def test_pages_are_self_contained(self):
        self.run_results()
        self.drawn("memory_page.py", "snapshot.json")
        page = (self.folder / "snapshot.html").read_text(encoding="utf-8")
        snapshot = (self.folder / "snapshot.json").read_text()
        self.assertTrue(page.startswith("<!doctype html>\n"))
        self.assertTrue(page.endswith("</html>\n"))
        self.assertIn(snapshot, page)
        for outside in ("http:", "https:", "src=", "</script><b>"):
            self.assertNotIn(outside, page)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        self.assertEqual(data, json.loads(snapshot))
        self.assertIn("</script><b>", data["labels"])
        self.assertIn("SNAPSHOT &", data["labels"])
        self.assertIn("tag \ufffd", data["labels"])
        # What the program in the page reads of it.
        self.assertEqual(data["history"][-1][1:4], ["free", "device", 0])
        self.assertEqual(data["event_columns"][:6], ["seconds", "action", "kind", "device", "address", "bytes"])
        self.assertEqual(data["block_columns"],
                         ["address", "bytes", "is_free", "starts_segment", "tag", "name", "is_retained"])
        self.assertEqual({b["kind"] for b in data["before"]}, {"device", "unified", "host"})

    def test_snapshots_that_other_programs_wrote(self):
        self.run_results()
        data = json.loads((self.folder / "snapshot.json").read_text())
        (self.folder / "other.json").write_text(json.dumps(data))
        self.drawn("memory_page.py", "other.json", "-o", "page")
        page = (self.folder / "page").read_text(encoding="utf-8")
        self.assertNotIn("</script><b>", page)
        self.assertEqual(json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1]), data)

    def test_pictures_of_a_tuner(self):
        self.run_results()
        self.drawn("tuning_picture.py", "tuning.json")
        text, data = ((self.folder / f"tuning.{suffix}").read_text(encoding="utf-8") for suffix in ("svg", "json"))
        self.assertTrue(text.startswith('<svg xmlns="http://www.w3.org/2000/svg" '))
        self.assertTrue(text.endswith("</svg>\n"))
        self.assertIn("array a&lt;b&gt;&amp; \ufffd<", text)
        picture, trials = ElementTree.fromstring(text), json.loads(data)["trials"]
        self.assertEqual(len(trials), 4)
        self.assertEqual([g.find(f"{SVG}text").text for g in picture.iter(f"{SVG}g")], [t["policy"] for t in trials])
        titles = [t.text for t in picture.iter(f"{SVG}text")]
        self.assertIn('Milliseconds a step of a "program" 1 < 2', titles)
        self.assertRegex(text, r'class="note rejected">is not available here: ')

    def test_bars(self):
        text = self.svg(result(trial("", "automatic", 1234.5, spread=0.25), trial("u", "prefetch", 0.125, chosen=True),
                               trial("u", "explicit", 617.25, rejected="changes results: " + "x" * 100),
                               best={"u": "prefetch"}))
        for part in ('width="1080"', 'x="390"', 'width="420.0" height="14" class="tried"', "ms, spread 0.25",
                     "takes 0.125 ms", 'width="210.0" height="14" class="rejected"', "0.125 ms  chosen<",
                     "617.2 ms  changes results: " + "x" * 20 + "...<",
                     "a step takes 0.125 ms with the policies chosen, 1234 ms without."):
            self.assertIn(part, text)
        self.assertEqual(text.count('class="spread"'), 1)
        self.assertEqual(text.count('class="automatic"'), 3)

    def test_ends_of_a_search(self):
        self.assertIn("0.125 ms: automatic is best for all arrays.", self.svg(result(trial("", "automatic", 1.0))))
        self.assertIn("chosen, automatic was rejected.", self.svg(
            result(trial("", "automatic", 1.0, rejected="changes results"), best={"u": "explicit"})))
        without = self.svg(result(trial("", "explicit", 0.0)))
        self.assertIn('width="0.0"', without)
        self.assertNotIn('class="automatic"', without)

    def test_what_is_refused(self):
        for script, kind in (("memory_page.py", "is no memory snapshot: "), ("tuning_picture.py", "is no ")):
            for text in ("", "{", "[1]", "3", "{}", '{"trials": 3}'):
                (self.folder / "wrong.json").write_text(text)
                done = self.draw(script, "wrong.json")
                self.assertEqual((done.returncode, done.stdout), (1, ""), text)
                self.assertTrue(done.stderr.startswith(f"{script}: wrong.json {kind}"), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            done = self.draw(script, "missing.json")
            self.assertEqual(done.returncode, 1)
            self.assertIn("missing.json", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.run_results()
        done = self.draw("memory_page.py", "snapshot.json", "-o", "/no/such/folder/page.html")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/no/such/folder/page.html", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
