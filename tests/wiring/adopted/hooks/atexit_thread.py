import atexit, json, sys, threading, time
answer = {}
atexit.register(lambda: print(json.dumps(answer)))
data = json.load(sys.stdin)
def work():
    time.sleep(0.02)
    answer["systemMessage"] = "from a thread: " + data["tool_name"]
threading.Thread(target=work).start()
