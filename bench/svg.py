"""The few words of SVG that the charts in docs/ are made of."""

from __future__ import annotations

from collections.abc import Sequence


def text(x: float, y: float, words: str, anchor: str = "middle", color: str = "#333") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{color}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, *, color: str = "#ddd", width: float = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width}"/>'


def document(width: int, height: int, parts: Sequence[str]) -> str:
    """A whole file on a white ground."""
    font = 'font-size="12" font-family="sans-serif"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {font}>'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, ground, *parts, "</svg>", ""])
