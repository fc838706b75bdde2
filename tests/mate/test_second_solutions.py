"""Second solutions of mate problems: which other checks mate too, and the class of each."""

from __future__ import annotations

import random
