"""The content guard: finds texts that try to steer the agent who will read them.

Pure functions of text; no Django, no clock, no disk.
"""

from memoryweb.core.guard.rules import RULES_VERSION
from memoryweb.core.guard.scan import Finding, scan, scan_page, scan_rows

__all__ = ["RULES_VERSION", "Finding", "scan", "scan_page", "scan_rows"]
