import json, os, sys
names = sorted(n for n in os.environ if n.startswith(("CLAUDE", "HOME", "TMPDIR")))
print(json.dumps({"systemMessage": " ".join(f"{n}={os.environ[n]}" for n in names) + f" cwd={os.getcwd()} argv={sys.argv[1:]} {__name__} {os.path.basename(__file__)} {sys.argv[0]}"}))
os.environ["CHANGED"] = "1"
os.system('[ "$CHANGED" = 1 ] || exit 3')
