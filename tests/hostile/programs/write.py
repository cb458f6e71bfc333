"""Makes a file in each of the folders named, writes into it, and takes it away again."""

import os
import sys

done, refused = [], []
for folder in sys.argv[2:]:
    path = os.path.join(folder, sys.argv[1])
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(path)
        done.append(folder)
    except OSError as error:
        refused.append(f"{folder}: {error.strerror}")
print(*("BROKE files made in", *done) if done else ("HELD", ", ".join(refused)))
