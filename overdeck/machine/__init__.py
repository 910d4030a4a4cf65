"""Facts about the machine: is it the hook, or what it runs on?"""
