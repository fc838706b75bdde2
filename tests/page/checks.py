"""Checks of every page (no overflow, named and large controls, contrast AA), and moves by keyboard."""

from playwright.sync_api import Page

# Controls without an accessible name, or smaller than 24 pixels (WCAG 2.2, 2.5.8).
CONTROLS = """() => [...document.querySelectorAll("button, a[href], input, select")].flatMap(one => {
  if (!one.checkVisibility()) return [];
  const labels = [...(one.labels || [])].map(label => label.textContent).join("");
  const name = one.getAttribute("aria-label") || one.textContent.trim() || labels;
  const box = one.getBoundingClientRect(), inText = one.tagName === "A" && one.closest("p, li");
  const large = Math.round(Math.min(box.width, box.height)) >= 24;
  return name && (inText || large) ? [] : [one.outerHTML.slice(0, 120)];
})"""

# Texts whose contrast is below AA (WCAG 2.2, 1.4.3). The wood's colour behind a gradient is its background-color, its
# darkest. Pieces are pictures; disabled controls are exempt.
CONTRAST = """() => {
  const parse = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, i) => value * a + below[i] * (1 - a));
  const own = one => parse(getComputedStyle(one).backgroundColor);
  const behind = one => one ? over(own(one), behind(one.parentElement)) : [255, 255, 255];
  const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), one = walker.currentNode.parentElement, style = getComputedStyle(one);
    if (!text || !one.checkVisibility() || one.closest("script, style, .sb-piece, .hidden, :disabled")) continue;
    const back = behind(one), front = over(parse(one.closest("svg") ? style.fill : style.color), back);
    const [low, high] = [light(front), light(back)].sort((a, b) => a - b), ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    if (ratio < (large ? 3 : 4.5)) found.push(`${one.outerHTML.slice(0, 60)}: ${ratio.toFixed(2)}`);
  }
  return found;
}"""


def walk_to(page: Page, square: str) -> None:
    """Press arrow keys from the focused square to this one of a board that is not turned, then Enter."""
    here = page.evaluate("document.activeElement.dataset.square")
    right, down = int(here[0]) - int(square[0]), ord(square[1]) - ord(here[1])
    keys = ["ArrowRight"] * right + ["ArrowLeft"] * -right + ["ArrowDown"] * down + ["ArrowUp"] * -down
    for key in [*keys, "Enter"]:
        page.keyboard.press(key)


def faults_of(page: Page) -> list[str]:
    """Return what is wrong with what is visible now."""
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    overflow = [f"{wide} pixels too wide"] if wide > 0 else []
    return [*overflow, *page.evaluate(CONTROLS), *page.evaluate(CONTRAST)]
