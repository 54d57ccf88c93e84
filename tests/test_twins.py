"""Every page names the operation of the API that gives the same as JSON."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import resolve

NAMED = sorted(
    {
        address
        for template in Path(settings.BASE_DIR, "templates").rglob("*.html")
        for address in re.findall(r'url="(/api/[^"?]*)', template.read_text())
    }
)


@pytest.mark.parametrize("address", NAMED)
def test_a_twin_that_a_template_names_is_an_operation(address: str):
    assert resolve(address).namespace == "api"
