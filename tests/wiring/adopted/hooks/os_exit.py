import os, sys
sys.stdin.read()
os.write(2, b"straight to the descriptor")
os._exit(2)
