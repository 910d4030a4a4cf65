import sys, zlib
raw = sys.stdin.buffer.read()
if len(raw) > 50_000:
    print("%d bytes, crc %08x" % (len(raw), zlib.crc32(raw)), file=sys.stderr)
    sys.exit(2)
