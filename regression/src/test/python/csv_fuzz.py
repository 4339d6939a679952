# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""CSV files by the thousand: what Sparqr reads beside Python's csv module and pandas.

csv_fuzz.py write FOLDER COUNT SEED    writes the files, and FOLDER.json with what is in them
csv_fuzz.py compare FOLDER READ        compares READ, which io.sparqr.spark.table.CsvFuzz wrote

Two kinds of files: tables whose cells are known, written by csv.writer in a random dialect and
encoding; and random characters, of which only the csv module (strict) can say what they are.
Every disagreement is put under a rule that its file is checked against, or else is listed.
"""
import collections
import csv
import io
import json
import os
import random
import re
import sys

WORDS = ["a", "b", "Lee", 'Lee "Bo", Jr', "line one\n5,6,7", "two\r\nlines", "x;y", "größe", "日本", " in spaces ",
         "1D", "1F", "0x1p3", "12L", "1_000", "T", "yes", "a'b", "\ttab", "semi;colon|bar", '"', '""', ",", "é", "#", "1e", "-", "."]
MARKS = {"", "NA"}


def number(r):
    return r.choice([
        lambda: str(r.randint(-999, 999)), lambda: repr(r.uniform(-1e3, 1e3)), lambda: "%.3f" % r.uniform(-10, 10),
        lambda: repr(r.uniform(-1, 1) * 10.0 ** r.randint(-300, 300)), lambda: "%de%d" % (r.randint(1, 9), r.randint(-9, 9)),
        lambda: "." + str(r.randint(0, 99)), lambda: "+%d" % r.randint(0, 9), lambda: "%d." % r.randint(1, 9)])()


KINDS = {
    "int": lambda r: str(r.randint(-10 ** r.randint(1, 18), 10 ** r.randint(1, 18))),
    "float": number,
    "id": lambda r: "%03d" % r.randint(0, 200),
    "long": lambda r: str(r.randint(10 ** 19, 10 ** 20)),
    "code": lambda r: str(r.randint(1, 3)) + r.choice("ABCDEFLdf"),
    "bool": lambda r: r.choice(["True", "False", "true", "FALSE"]),
    "date": lambda r: "%04d-%02d-%02d" % (r.randint(1900, 2100), r.randint(1, 12), r.randint(1, 31)),
    "time": lambda r: "20%02d-0%d-1%d %02d:%02d:%02d" % (r.randint(0, 99), r.randint(1, 9), r.randint(0, 9), r.randint(0, 23), r.randint(0, 59), r.randint(0, 59)),
    "text": lambda r: r.choice(WORDS),
    "nan": lambda r: r.choice(["1", "2.5", "NaN", "nan"]),
    "mark": lambda r: r.choice(["1", "2", ".", "N/A", "NULL"]),
    "inf": lambda r: r.choice(["1", "inf", "-inf", "2.5"]),
}


def table(r):
    """A table of known cells in a random dialect."""
    kinds = [r.choice(list(KINDS)) for _ in range(r.randint(2, 6))]
    names = ["c%d" % j for j in range(len(kinds))]
    if r.random() < 0.2:
        names[r.randrange(len(names))] = r.choice(['a "b", c', "größe", "my\nname", "d.e", "1st"])
    hole = r.choice([0, 0, 0.2])
    rows = [["" if r.random() < hole / 2 else "NA" if r.random() < hole else KINDS[k](r) for k in kinds] for _ in range(r.randint(1, 12))]
    delimiter = r.choice(",,,;\t|")
    encoding = r.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "latin1"])
    end = r.choice(["\n", "\n", "\r\n", "\r"])
    # csv.writer leaves \n without quotes where lines end with \r.
    styles = [csv.QUOTE_ALL] if end == "\r" else [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]
    style = r.choice(styles)
    out = io.StringIO(newline="")
    w = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=style)
    w.writerow(names)
    for row in rows:
        w.writerow(row)
        if r.random() < 0.05:
            out.write(end)
    text = out.getvalue()
    if r.random() < 0.2:
        text = text.rstrip("\r\n")
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:
        encoding, data = "utf-8", text.encode("utf-8")
    return data, {"kind": "table", "names": names, "rows": rows, "delimiter": delimiter, "encoding": encoding, "quoted": style != csv.QUOTE_MINIMAL}


def noise(r):
    """Random characters, most of them with a meaning."""
    alphabet = r.choice([',"\n', ',"\n1', ',"\n\r a1', ' ,"\na', ',"\r\n\tab1.'])
    text = "a,b" + r.choice(["\n", "\r\n", "\r"]) + "".join(r.choice(alphabet) for _ in range(r.randint(0, 40)))
    return text.encode(), {"kind": "noise"}


def write(folder, count, seed):
    os.makedirs(folder)
    known = {}
    for k in range(count):
        r = random.Random(seed * 1000003 + k)
        data, known["%06d.csv" % k] = table(r) if r.random() < 0.6 else noise(r)
        with open(os.path.join(folder, "%06d.csv" % k), "wb") as f:
            f.write(data)
    json.dump(known, open(folder + ".json", "w"))


def plain(c):
    """A value without the spaces around it that are no part of it outside quotes."""
    return c.strip("".join(map(chr, range(33))) + "\xa0")


def python_records(text, delimiter):
    """The csv module's records in strict mode, without blank lines; None and its error if it refuses."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as e:
        return None, str(e)
    return [row for row in rows if row], None


def filled(rows):
    """Records but for those of one blank field, which is a blank line unless it is in quotes."""
    return [[plain(c) for c in row] for row in rows if len(row) > 1 or plain(row[0])]


def compare_records(text, delimiter, read):
    """A verdict on the records of one file."""
    rows, refused = python_records(text, delimiter)
    ours, error = read["records"], read["error"] or ""
    if re.search(r'(^|[%s\r\n])[\x00-\x09\x0b\x0c\x0e-\x20]+"' % re.escape(delimiter), text) or re.search(r'"[\x00-\x09\x0b\x0c\x0e-\x20]+($|[%s\r\n])' % re.escape(delimiter), text):
        return "not compared: spaces beside a quote, which we allow and csv takes for text or refuses"
    if refused:
        quotes = "quote" in error
        return "both refuse a quote" if quotes else "?? csv refuses: " + refused + " / " + error
    if "quote" in error and "fields" not in error:
        return "?? we refuse: " + error
    if error and not ours:
        return "no header on both sides" if not rows else "?? we refuse: " + error
    if filled(rows) != filled(ours):
        return "?? records differ"
    if error:
        width = len(rows[0])
        if "two columns" in error:
            return "same records; refused: a name twice" if len(set(map(plain, rows[0]))) < width else "?? " + error
        if "field" in error:
            return "same records; refused: widths differ" if any(len(x) != width for x in rows) else "?? " + error
        return "?? " + error
    return "same records"


def pandas_value(frame, i, j):
    import pandas
    v = frame.iat[i, j]
    return None if pandas.isna(v) else v


def compare_table(data, known, read):
    """Verdicts on the cells of a table by construction, and beside pandas."""
    import pandas
    if read["error"]:
        yield "?? refused: " + read["error"]
        return
    if read["names"] != [n for n in known["names"]]:
        yield "?? names " + str(read["names"])
        return
    rows = [row for row in known["rows"]]
    if len(rows) != len(read["rows"]):
        yield "?? %d rows for %d" % (len(read["rows"]), len(rows))
        return
    text = data.decode("utf-16" if known["encoding"] == "utf-16" else known["encoding"])
    as_text = pandas.read_csv(io.StringIO(text, newline=""), sep=known["delimiter"], dtype=str, keep_default_na=False, na_values=["", "NA"])
    inferred = pandas.read_csv(io.StringIO(text, newline=""), sep=known["delimiter"], keep_default_na=False, na_values=["", "NA", "NaN", "nan"])
    if len(as_text) != len(rows):
        yield "?? pandas reads %d rows for %d" % (len(as_text), len(rows))
        return
    for j, kind in enumerate(read["types"]):
        cells = [row[j] for row in rows]
        given = [c for c in cells if c.strip() not in MARKS]
        for i, c in enumerate(cells):
            value = read["rows"][i][j]
            p = pandas_value(as_text, i, j)
            missing = c.strip() in MARKS or (kind in ("integer", "number") and c.strip().lower() == "nan")
            if (value is None) != missing:
                yield "?? missing: %r is %r" % (c, value)
            elif value is None:
                yield "cell missing on both sides" if p is None or p.strip().lower() in ("nan", "") else "?? pandas has %r" % p
            elif kind == "text":
                exact = value == c or (value == plain(c) and not known["quoted"])
                yield "cell text equal" if exact and (p == c or plain(p) == value or p.replace("\r\n", "\n") == value.replace("\r\n", "\n")) else "?? text %r, written %r, pandas %r" % (value, c, p)
            elif kind in ("integer", "number"):
                equal = int(value) == int(c) if kind == "integer" else float(value) == float(c)
                yield "cell number equal" if equal and float(p) == float(value) else "?? number %r, written %r, pandas %r" % (value, c, p)
            elif kind == "boolean":
                yield "cell boolean equal" if value == c.strip().lower() else "?? boolean %r" % value
            else:
                yield "cell date or time equal" if value == c.strip() == p.strip() else "?? %s %r, written %r" % (kind, value, c)
        yield type_verdict(kind, str(inferred.dtypes.iloc[j]), [c.strip() for c in given])


def type_verdict(kind, pandas_kind, given):
    numeric = pandas_kind.startswith(("int", "float", "uint"))
    if (kind in ("integer", "number")) == numeric and (kind == "boolean") <= (pandas_kind in ("bool", "object")):
        return "type as pandas: " + ("numbers" if numeric else "boolean" if kind == "boolean" else "date or time, which pandas leaves text" if kind in ("date", "timestamp") else "text")
    if kind == "text" and numeric and given and any(re.fullmatch(r"[+-]?0\d+", c) for c in given):
        return "type by rule: leading zeros are text, pandas has numbers"
    if kind == "text" and all(re.fullmatch(r"[+-]?\d+", c) for c in given) and any(abs(int(c)) >= 2 ** 63 for c in given):
        return "type by rule: more than 64 bits are text, pandas has " + ("numbers" if numeric else pandas_kind)
    if kind == "boolean":
        return "type by rule: booleans, pandas has " + pandas_kind
    if kind == "number" and not given:
        return "type by rule: no values, numbers here"
    return "?? type %s, pandas %s: %r" % (kind, pandas_kind, given[:4])


def compare(folder, file):
    known = json.load(open(folder + ".json"))
    verdicts = collections.Counter()
    odd = []
    tables = 0
    seen = set()
    for line in open(file, encoding="utf-8"):
        read = json.loads(line)
        k = known[read["file"]]
        seen.add(read["file"])
        data = open(os.path.join(folder, read["file"]), "rb").read()
        text = data.decode({"utf-8-sig": "utf-8-sig", "utf-16": "utf-16"}.get(k.get("encoding"), k.get("encoding", "utf-8")))
        found = [k["kind"] + ": " + compare_records(text, k.get("delimiter", ","), read)]
        if k["kind"] == "table":
            tables += 1
            found += compare_table(data, k, read)
        for v in found:
            key = v if "??" not in v else v[:v.index("??") + 2]
            verdicts[key] += 1
            if "??" in v:
                odd.append((read["file"], v))
    print("%d files: %d tables, %d of noise" % (sum(1 for _ in known), tables, len(known) - tables))
    for v, n in sorted(verdicts.items()):
        print("%9d  %s" % (n, v))
    print("%d disagreements that no rule explains" % len(odd))
    for name, v in odd[:40]:
        print("  ", name, v[:300])
    if len(seen) < len(known):
        sys.exit("%d files were not read" % (len(known) - len(seen)))
    if odd:
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        compare(sys.argv[2], sys.argv[3])
