"""What looks like a secret in what is stored, found; events and all that was made from them, erased."""

from cm_tui.engine.erasure.erase import Asked, erase_events, preview
from cm_tui.engine.erasure.scan import scan, scan_archive

__all__ = ["Asked", "erase_events", "preview", "scan", "scan_archive"]
