import sys
if True print("never")
