"""``{% once here=name %}…{% endonce %}``: a part of a page that is rendered once a process for everybody.

It is kept by language and by the named values, and rendered with nothing but these values: neither the request nor the
person is known in it, so it can't show one person what is another's. Times don't belong in it, since the time zone is
the person's.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.context import Context
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()

MOST = 256
"""How many renderings of one part are kept; then it begins anew."""


class Once(template.Node):
    """The part, with its kept renderings. It lives as long as its template."""

    def __init__(self, nodelist: NodeList, values: dict[str, FilterExpression]) -> None:
        self.nodelist = nodelist
        self.values = values
        self.rendered: dict[tuple[Any, ...], SafeString] = {}

    def render(self, context: Context) -> SafeString:
        """Return the part."""
        values = {name: value.resolve(context) for name, value in self.values.items()}
        key = (get_language(), *(tuple(value) if isinstance(value, list) else value for value in values.values()))
        found = self.rendered.get(key)
        if found is None:
            own = Context(values)
            own.template = context.template
            found = self.nodelist.render(own)
            if len(self.rendered) >= MOST:
                self.rendered.clear()
            self.rendered[key] = found
        return found


@register.tag
def once(parser: Parser, token: Token) -> Once:
    """Parse ``once``. Raises TemplateSyntaxError for anything but named values."""
    bits = token.split_contents()[1:]
    values = token_kwargs(bits, parser)
    if bits:
        raise template.TemplateSyntaxError("once takes named values only.")
    nodelist = parser.parse(("endonce",))
    parser.delete_first_token()
    return Once(nodelist, values)
