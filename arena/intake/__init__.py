"""Take in what authors hand in: from an upload, which may be hostile, to a plain folder.

    inbox_entries(inbox)    what lies in the inbox, and whose it is
    look(path, before, now) whether an upload is complete
    unpack(source, target)  one submission as a folder that `arena.bots.load` takes
    split(export, target)   a course system's download of all, a folder an author
    handle_of(author, ...)  a short name that is unique

SubmissionError is a submission's fault, in one line; UnfinishedError: it may be complete later.
UserError is trouble with the target, HostError with the machine. See docs/design/intake.md.
"""

from arena.intake.authors import Author, author_of, handle_of
from arena.intake.caps import CAPS, SubmissionError, UnfinishedError, UploadCaps
from arena.intake.inbox import InboxEntry, Look, Split, inbox_entries, look, split
from arena.intake.submission import Unpacked, unpack
