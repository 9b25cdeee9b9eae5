"""The form of a page as a browser sends it."""

from __future__ import annotations

from html.parser import HTMLParser


class _Form(HTMLParser):
    """Collects the fields of the form with a certain attribute."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark
        self.fields: dict[str, str] = {}
        self._is_inside = False
        self._area = ""

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self._is_inside = self.mark in values
        name = values.get("name", "")
        if not self._is_inside or not name:
            return
        if tag == "textarea":
            self._area = name
            self.fields[name] = ""
        elif tag == "input" and (values.get("type") not in ("radio", "checkbox") or "checked" in values):
            self.fields[name] = values.get("value") or ""

    def handle_endtag(self, tag):
        if tag == "textarea" and self._area:
            # A browser drops the first line end of a text area, and sends the others as CRLF.
            text = self.fields[self._area].removeprefix("\n")
            self.fields[self._area] = text.replace("\n", "\r\n")
            self._area = ""
        elif tag == "form":
            self._is_inside = False

    def handle_data(self, data):
        if self._area:
            self.fields[self._area] += data


def fields(response, mark: str = "data-edit") -> dict[str, str]:
    """Return the fields of the form with the attribute `mark`."""
    form = _Form(mark)
    form.feed(response.text)
    form.close()
    return form.fields
