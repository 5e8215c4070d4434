"""What a server loads before it forks."""

from unittest.mock import patch

from django.template import engines

from memory_project.preloading import preload_pages


def test_every_template_is_compiled_before_the_first_request(settings):
    loader = engines["django"].engine.template_loaders[0]
    loader.reset()
    preload_pages()
    with patch("django.template.base.Template.compile_nodelist", side_effect=AssertionError("compiled again")):
        for path in (settings.BASE_DIR / "templates").rglob("*.html"):
            engines["django"].get_template(str(path.relative_to(settings.BASE_DIR / "templates")))
