import sys
sys.stdin.close()
print('{"systemMessage": "did not read"}')
