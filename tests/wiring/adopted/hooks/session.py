import argparse, json, subprocess, sys
parser = argparse.ArgumentParser()
parser.add_argument("--load-context", action="store_true")
args = parser.parse_args()
d = json.loads(sys.stdin.read())
branch = subprocess.run(["git", "rev-parse", "--abbrev-ref", "HEAD"], capture_output=True, text=True).stdout.strip()
if args.load_context:
    print(f"Session started from: {d['source']}\nGit branch: {branch or 'none'}")
