"""memoryweb: where people look after what their AI agents remember."""

import os

# Before numpy is imported, which reads it then. Requests are answered by threads and processes
# beside each other: a matrix product on threads of its own waits for cores that they have, and
# takes 100 times as long on a busy machine as on one thread (a context of 1,000 memories).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
