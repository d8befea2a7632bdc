"""Encodes UTF-8 pages into another charset. Input: a line of JSON each, {"path", "declared"}; the codec, the characters
that are always written as references and the label are arguments. Output: for each page its length in 4 bytes (big
endian) and its bytes.

Python's codecs are the second opinion here: what they write, the engine must read. Characters that a codec lacks become
numeric references.
"""
import json
import re
import struct
import sys

codec, label, always = sys.argv[1], sys.argv[2], sys.argv[3]
always_re = re.compile("[" + re.escape(always) + "]") if always else None

for line in sys.stdin:
    page = json.loads(line)
    with open(page["path"], encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"^<\?xml[^>]*\?>\s*", "", text)
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={label}" />' if page["declared"] else ""
    text = re.sub(r"<meta http-equiv=\"Content-Type\"[^>]*>", meta, text, count=1, flags=re.I)
    if always_re:
        text = always_re.sub(lambda found: f"&#{ord(found.group())};", text)
    encoded = text.encode(codec, "xmlcharrefreplace")
    sys.stdout.buffer.write(struct.pack(">I", len(encoded)))
    sys.stdout.buffer.write(encoded)
