# mistake: stuck
# names: does nothing
import time

time.sleep(3600)
