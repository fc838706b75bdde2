"""Texts of the pages in `data/page`, in the language of the run. Words in braces are filled in by the page's script."""

from __future__ import annotations

from usi_engine.language import _


def labels() -> dict[str, str]:
    """Return the texts of all pages."""
    return {
        "board": _("Board"),
        "black": _("Black"),
        "white": _("White"),
        "empty": _("empty"),
        "target": _("can move here"),
        "hand": _("{side}'s hand"),
        "in_hand": _("{piece}, {count} in hand"),
        "piece": _("{side} {piece}"),
        "promotion": _("Promote?"),
        "promote": _("Promote"),
        "not_promote": _("Do not promote"),
        "piece_K": _("king"),
        "piece_R": _("rook"),
        "piece_B": _("bishop"),
        "piece_G": _("gold"),
        "piece_S": _("silver"),
        "piece_N": _("knight"),
        "piece_L": _("lance"),
        "piece_P": _("pawn"),
        "piece_+R": _("dragon"),
        "piece_+B": _("horse"),
        "piece_+S": _("promoted silver"),
        "piece_+N": _("promoted knight"),
        "piece_+L": _("promoted lance"),
        "piece_+P": _("tokin"),
    }
