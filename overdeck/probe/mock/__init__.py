"""A model that says what a file tells it to, over the wire protocols of the clients, on loopback only.

``script`` is what it says, ``server`` the HTTP server, ``wire`` what a protocol has to know, and ``anthropic``,
``responses`` (OpenAI) and ``gemini`` are the three protocols, streaming and not.
"""
